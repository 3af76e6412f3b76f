"""What is refused as a secret, and what good lessons hold that is none.

The secrets are made up from their own texts as seeds, so that no scanner of a code host takes them for real:
`<a36>` stands for 36 letters and digits, and so on, as in `ALPHABETS`.
"""

import base64
import random
import re
import string
import subprocess
import sys

import pytest

from grove_core.reflection.secrets import (
    digest_of,
    find_leak,
    find_secrets,
    objection_to,
)

ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "a": ALNUM,
    "b": ALNUM + "+/",
    "d": string.digits[1:],
    "h": string.digits + "abcdef",
    "l": string.ascii_letters,
    "s": string.ascii_lowercase + string.digits,
    "t": string.ascii_uppercase + "234567",
    "u": string.ascii_uppercase + string.digits,
    "w": ALNUM + "-_",
}


def made(text):
    """Fill in what is made up, the same for a text every time, and with digits in it."""
    chance = random.Random(text)

    def fill(found):
        alphabet, length = ALPHABETS[found[1]], int(found[2])
        letters = [chance.choice(alphabet) for _ in range(length)]
        if alphabet != string.ascii_letters:
            letters[3::4] = [chance.choice("234567") for _ in letters[3::4]]
        return "".join(letters)

    return re.sub(r"<([abdhlstuw])(\d+)>", fill, text)


PEM = "-----BEGIN <name>-----\n<start><a58>\n<a64>\n-----END <name>-----"


def pem(name, start):
    return PEM.replace("<name>", name).replace("<start>", start)


def coded(text):
    return base64.b64encode(made(text).encode()).decode()


# Tokens that their providers give a form of their own.
TOKENS = """
AKIA<t16> ASIA<t16> ghp_<a36> gho_<a36> ghs_<a36> github_pat_<a22>_<a59> glpat-<a20> glrt-<a20>
xoxb-<d12>-<d12>-<a24> xoxp-<d12>-<d12>-<d12>-<h32> xapp-1-A<u10>-<d13>-<h64> sk_live_<a24>
rk_live_<a99> sk_test_<a24> whsec_<a32> AIza<w35> GOCSPX-<w28> sk-proj-<a48>
sk-<a20>T3BlbkFJ<a20> sk-svcacct-<a74>T3BlbkFJ<a74> sk-ant-api03-<w93>AA sk-ant-admin01-<w93>AA
hf_<l34> npm_<a36> pypi-AgEIcHlwaS5vcmc<w150> SG.<w22>.<w43> HRKU-AA<w58> dop_v1_<h64>
doo_v1_<h64> AGE-SECRET-KEY-1<u58> shpat_<h32> lin_api_<a40> ATATT3xFfGF0<w172>=<u8>
ntn_<d11><a35> hvs.<w92> <a14>.atlasv1.<w64> dckr_pat_<w27> <h32>-us14 sntrys_<a40>_<a43>
NRAK-<u27> glsa_<a32>_<h8> gsk_<a52> xai-<a80> pplx-<a48> r8_<a37> sbp_<h40> pscale_tkn_<w43>
PMAK-<h24>-<h34> rubygems_<h48>
"""
PLANTED = [
    *TOKENS.split(),
    "export AWS_SECRET_ACCESS_KEY=<b40> in the runner",
    'boto needs aws_secret_access_key = "<b40>" there',
    "`aws configure set aws_secret_access_key <b40>`",
    "alerts go to https://hooks.slack.com/services/T<u8>/B<u10>/<a24>",
    '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n<b64>\\n"}',
    "OPENAI_API_KEY=sk-proj-<a74>T3BlbkFJ<a74>",
    "//registry.npmjs.org/:_authToken=<h36>",
    pem("RSA PRIVATE KEY", "MIIEow"),
    pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAA"),
    pem("EC PRIVATE KEY", "MHcCAQ"),
    pem("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0B"),
    pem("PGP PRIVATE KEY BLOCK", "\nlQOYBF"),
    "the API answered with eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.<w43>",
    "AccountName=acme;AccountKey=<b86>==;EndpointSuffix=core.windows.net",
    "AZURE_CLIENT_SECRET=<a3>8Q~<w34>",
    "https://x.blob.core.windows.net/c?sv=2020&sig=<a48>%3D",
    "TWILIO_API_KEY=SK<h32>",
    "TWILIO_AUTH_TOKEN is <h32>",
    "the bot <d10>:AA<w33> posts",
    "the bot logs in with MTA<a21>.<w6>.<w38>",
    "alerts https://discord.com/api/webhooks/<d18>/<w68>",
    "HEROKU_API_KEY=<h8>-<h4>-<h4>-<h4>-<h12>",
    "DD_API_KEY=<h32> in the agent",
    "DATADOG_APP_KEY=<h40> in the agent",
    "CLOUDFLARE_API_TOKEN=<w40>",
    "MAILGUN_KEY=key-<h32>",
    "FlyV1 fm2_<b160>",
    "the master key (config/master.key) is <h32>",
    "root:$6$<a8>$<a86>:1:",
    "root:$apr1$<a8>$<a22>:1:",
    "root:$2b$12$<a53>:1:",
    # Passwords in addresses.
    "the worker reads postgres://app:<a16>@db.internal:5432/app at start",
    "cloned from https://deploy:<a20>@git.acme.io/x.git",
    "cloned from https://<h40>@git.acme.io/x.git",
    "it connects to mongodb+srv://svc:<a14>@cluster0.ab1cd.mongodb.net/prod",
    "postgres://app:aB3k(9xL9q2@db.prod/app",
    "jdbc:mysql://db:3306/x?user=app&password=Qm8z4Lt0v",
    "jdbc:oracle:thin:scott/<a12>@db:1521/x",
    "CLOUDINARY_URL=cloudinary://<d15>:<a27>@acme",
    # Values that are named.
    'the fixture has password = "<a10>!7" inside',
    "start it with DB_PASSWORD=<a14> make up",
    "values.yaml holds `password: <a12>#` for staging",
    "SECRET_KEY = '7p9pb0-^tdbm5*^0fqo&1xo5c(v-0x*zmas=6en5mt)mo3oq+s'",
    "DB_PASSWORD='aB3(dk9)xL9q2'",
    'api_key: "<h32>"',
    '{"client_secret": "<a28>", "redirect": "x"}',
    'access_token = "<a32>"',
    "spring.datasource.password=Hq72mmZ01x must be set",
    "Use `PGPASSWORD=s3cr3t-Pa55 psql -h db` to look.",
    "password=hunter2 in config/database.yml",
    "password=Company-2024",
    "AZURE_DEVOPS_EXT_PAT=<s52>",
    "headers['X-Auth-Token'] = '<a12>'",
    "**Password:** <a12>",
    "| password | <a12> |",
    "| DB password | `<a12>` | staging |",
    '- name: DB_PASSWORD\n  value: "<a12>"',
    '{"name": "API_TOKEN",\n "value": "<a12>"}',
    "password:\n  <a12>",
    "password: >-\n  <a12>",
    "CREATE USER app IDENTIFIED BY '<a12>'",
    '<add key="Password" value="<a12>" />',
    "password -> <a12>",
    "password → <a12>",
    "export API_TOKEN=$'<a12>'",
    "pw: <a12>",
    "Kennwort: <a12>",
    "contraseña: <a12>",
    "API key: <a12>",
    "Server=db;Database=x;User Id=sa;Password=<a10>!3;",
    # Words around a value, and options of programs.
    "log in to staging as admin, the password is <a8>$9",
    "log in as bob with password <a12> on the bastion",
    "Das Passwort lautet <a12> und gilt bis Mai",
    "The staging admin panel takes user `ops` and password `Winter2024!`; ask nobody.",
    "DB creds: svc_orders / 7yT!kq29Lm work from the bastion only.",
    "smtp password for noreply@acme.io: kd82-Jq!mm91",
    "ssh deploy@host (password: Tr0ub4dor&3)",
    "~/.netrc: machine api.acme.io login bot password <a16>",
    "mysqldump -u root --password=<a12> orders",
    "curl -u admin:<a14>9 https://ci.acme.io/api",
    "openssl rsa -passin pass:<a12> -in key.pem",
    "openssl enc -aes-256-cbc -k <a12> -in x",
    'ConvertTo-SecureString "<a12>" -AsPlainText',
    "curl -H 'Authorization: Bearer <a40>' /v1/me",
    "Authorization: token <h40>",
    f"curl -H 'Authorization: Basic {coded('svc:<a14>')}' /v1/me",
    f"_auth={coded('bob:<a12>')}",
    "Cookie: theme=dark; sessionid=<a24>",
]

# Lessons that speak of secrets and hold none.
HARMLESS = [
    "The regression came in with <h40> and went with <h7>.",
    "Pin actions/checkout to <h40>: tags move.",
    "The image digest sha256:<h64> is pinned in compose.yaml.",
    "Password resets must invalidate all sessions, or the old password works for an hour.",
    "The password field is hashed with argon2id; bcrypt truncates a password at 72 bytes.",
    "Set DATABASE_URL to postgres://USER:PASSWORD@host:5432/db before the tests.",
    "DATABASE_URL=postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app is expanded by compose, not by the app.",
    "Set API_KEY=xxxxxxxxxxxxxxxx in .env.example only.",
    'Set password = "changeme" only in the example file.',
    "postgresql://postgres:postgres@localhost:5432/test is what CI uses for its throwaway database.",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf must be granted to the task role.",
    'Read the api key from os.environ["API_KEY"], never from the settings file.',
    "password = os.environ['DB_PASSWORD'] raises at import time in the worker.",
    "secret: ${{ secrets.DEPLOY_KEY }} is empty on pull requests from forks.",
    "The AWS_SECRET_ACCESS_KEY variable must be unset for the instance role to be used.",
    "AWS docs' example key AKIAIOSFODNN7EXAMPLE is accepted by the local stack.",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY is the documented example",
    'Cargo.lock checksum = "8b45f28dc1ca8b7b1a1c1a9b8a1e3a2b4c5d6e7f8091a2b3c4d5e6f708192a3b" differs between mirrors',
    "The public key ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl is in known_hosts.",
    "The parser looks for the line `-----BEGIN RSA PRIVATE KEY-----`; PKCS#8 files say BEGIN PRIVATE KEY and were skipped.",
    "stripe.api_key = config.stripe_secret is set per request, as it is global state.",
    "QmYwAPJzv5CZsnA625s1Xf2nemtYgPpHdWEz79ojWWR0mJ is a CID of IPFS, not a secret.",
    "trace id <h32> span <h16> shows the retry",
    "kubectl create secret generic db --from-literal=password=$PW",
    "X-Amz-Signature in presigned URLs expires; X-Amz-Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request",
    "The password is stored as $argon2id$v=19$... and verified in AuthService.verify().",
    "Basic dGVzdDp0ZXN0 decodes to test:test, which the mock accepts.",
    "encryption_key: arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab must be in the same region.",
    "storage_key=uploads/2024/05/report_v2_final.pdf is the S3 key pattern.",
    "proxy http://user:pass@proxy:3128 must be percent-encoded.",
    "redis://:password@redis:6379 is what the chart renders by default.",
    "access_key: AccessKeyV2Model",
    "password: minLength8+1upper",
    "password='hunter2' in tests/fixtures fails validators",
    "auth_token=get_token(user_id=42)",
    "password: ${DB_PASSWORD:-changeme1}",
    "| password | varchar255 | not null |",
    "password is `$argon2id$v=19$m=65536,t=3,p=4$...`",
]


@pytest.mark.parametrize("text", PLANTED)
def test_a_secret_is_found_and_masked(text):
    for written in (made(text), f"word {made(text)}"):
        found = find_secrets(written)
        assert found
        for one in found:
            assert one.value in written
            assert one.digest == digest_of(one.value)
            assert one.value not in one.masked
            assert str(len(one.value)) in one.masked
            assert len(one.masked.split("*")[0]) <= 4


@pytest.mark.parametrize("text", HARMLESS)
def test_a_lesson_about_secrets_passes(text):
    written = made(text)
    assert list(find_secrets(written)) == []


KEY_LINES = made(pem("RSA PRIVATE KEY", "MIIEow")).split("\n")[:-1]
GITHUB = made("ghp_<a36>")


@pytest.mark.parametrize(
    "form", ["> {}", "// {}", "12\t{}", "  7: {}", "12 | {}", '"{}\\n"', "{}\\\\n"]
)
def test_a_private_key_is_found_whatever_quotes_its_lines(form):
    assert find_secrets("\n".join(form.replace("{}", line) for line in KEY_LINES))


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(GITHUB.encode()).decode(),
        base64.urlsafe_b64encode(f"token={GITHUB}".encode()).decode(),
        base64.encodebytes("\n".join(KEY_LINES).encode()).decode(),
        GITHUB.replace("_", "\\_"),
        GITHUB.replace("_", "%5F"),
        GITHUB.replace("_", "&#95;"),
        "".join(chr(ord(character) + 0xFEE0) for character in GITHUB),
    ],
)
def test_an_encoding_hides_nothing(text):
    written = f"the job uses {text} since May"
    (found,) = find_secrets(written)
    assert found.value in {text.strip(), GITHUB}


TOKEN = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"
KEY_ID = "AKIA" + "Q3EGR7Z2XK4T5V6W"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"detail": f"it is {TOKEN}."}, "detail"),
        ({"extra": {"deep": [{"x": TOKEN}]}}, "an unknown field"),
        ({"db_password": "kX9fQ2mL8v"}, "an unknown field"),
        ({TOKEN: 1}, "the name of a field"),
        ([TOKEN], "the candidate"),
        (TOKEN, "the candidate"),
    ],
)
def test_every_text_of_a_candidate_is_looked_at(raw, field):
    objection = objection_to(raw, ())
    assert objection.field == field
    assert TOKEN not in objection.reason
    assert "kX9f" not in objection.reason
    assert "secrets.allow" in objection.reason


def test_what_is_allowed_passes_and_nothing_else():
    leak = find_leak(f"{TOKEN} and {KEY_ID}", (), "detail")
    assert digest_of(TOKEN) in leak.text
    assert find_leak(TOKEN, (digest_of(TOKEN),)) is None
    other = find_leak(f"{TOKEN} and {KEY_ID}", (digest_of(TOKEN),))
    assert other.secret.digest == digest_of(KEY_ID)


def test_without_the_detector_nothing_is_stored():
    script = (
        "import sys; sys.modules['detect_secrets'] = None\n"
        "from grove_core.errors import ReflectionError\n"
        "from grove_core.reflection.secrets import find_secrets\n"
        "try:\n    find_secrets('long enough')\n"
        "except ReflectionError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert "cannot be checked for secrets" in done.stdout
