"""What is refused as a secret, and what good lessons hold that is none.

The secrets are made up from a fixed seed, so that no scanner of a code host takes them for real.
"""

import base64
import json
import random
import string
import subprocess
import sys

import pytest

from grove_core.reflection.secrets import digest_of, find_secrets
from grove_core.reflection.secrets.screening import find_leak, objection_to, without_secrets
from grove_core.reflection.submission import parse_submission

R = random.Random(20261122)
AN = string.ascii_letters + string.digits
UP = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


def r(n, a=AN):
    return "".join(R.choice(a) for _ in range(n))


def b64u(b):
    return base64.urlsafe_b64encode(b).decode().rstrip("=")


def rb(n):
    return bytes(R.randrange(256) for _ in range(n))


P = []


def p(kind, secret, text="{}"):
    P.append((kind, secret, text.replace("{}", secret)))


B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
for _ in range(2):
    p("aws-id", "AKIA" + r(16, B32), "the job used {} until it was rotated")
    p("aws-temp-id", "ASIA" + r(16, B32), "session key {} expired")
    p("aws-secret", r(40, AN + "+/"), "export AWS_SECRET_ACCESS_KEY={} in the runner")
    p("aws-secret-json", r(40, AN + "+/"), 'boto needs aws_secret_access_key = "{}" there')
    p("github-classic", "ghp_" + r(36), "CI pushes with {} as the bot")
    p("github-oauth", "gho_" + r(36), "token {} is stale")
    p("github-app", "ghs_" + r(36), "`{}` came from the app")
    p("github-fine", "github_pat_" + r(22) + "_" + r(59), "set GH to {}")
    p("gitlab", "glpat-" + r(20), "runner registered with {}")
    p("gitlab-runner", "glrt-" + r(20), "runner token {}")
    p(
        "slack-bot",
        f"xoxb-{R.randrange(10**11, 10**12)}-{R.randrange(10**11, 10**12)}-" + r(24),
        "posts with {}",
    )
    p(
        "slack-user",
        f"xoxp-{R.randrange(10**11, 10**12)}-{R.randrange(10**11, 10**12)}-{R.randrange(10**11, 10**12)}-"
        + r(32, HEX),
        "posts with {}",
    )
    p(
        "slack-app",
        f"xapp-1-A{r(10, UP)}-{R.randrange(10**12, 10**13)}-" + r(64, HEX),
        "socket mode needs {}",
    )
    p(
        "slack-webhook",
        "https://hooks.slack.com/services/T" + r(8, UP) + "/B" + r(10, UP) + "/" + r(24),
        "alerts go to {}",
    )
    p("stripe-live", "sk_live_" + r(24), "charges fail with {}")
    p("stripe-long", "sk_live_" + r(99), "charges fail with {}")
    p("stripe-restricted", "rk_live_" + r(24), "charges fail with {}")
    p("stripe-test", "sk_test_" + r(24), "tests charge with {}")
    p("stripe-webhook", "whsec_" + r(32), "verify with {}")
    p("google-api", "AIza" + r(35, AN + "-_"), "maps load with {}")
    p(
        "gcp-service-account",
        "-----BEGIN PRIVATE KEY-----\\n" + base64.b64encode(rb(48)).decode() + "\\n",
        '{"type": "service_account", "private_key_id": "' + r(40, HEX) + '", "private_key": "{}"}',
    )
    p("google-oauth-secret", "GOCSPX-" + r(28, AN + "-_"), "client secret {}")
    p("openai-proj", "sk-proj-" + r(74) + "T3BlbkFJ" + r(74), "OPENAI_API_KEY={}")
    p("openai-proj-short", "sk-proj-" + r(48), "the model is called with {}")
    p("openai-legacy", "sk-" + r(20) + "T3BlbkFJ" + r(20), "the model is called with {}")
    p("openai-svc", "sk-svcacct-" + r(74) + "T3BlbkFJ" + r(74), "the model is called with {}")
    p("anthropic", "sk-ant-api03-" + r(93, AN + "-_") + "AA", "evals use {}")
    p("anthropic-admin", "sk-ant-admin01-" + r(93, AN + "-_") + "AA", "evals use {}")
    p("huggingface", "hf_" + r(34, string.ascii_letters), "download with {}")
    p("npm", "npm_" + r(36), "publish with {}")
    p("npmrc", r(36, HEX + "-"), "//registry.npmjs.org/:_authToken={}")
    p("pypi", "pypi-AgEIcHlwaS5vcmc" + r(150, AN + "-_"), "twine uses {}")
    p(
        "rsa-pem",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow"
        + r(58)
        + "\n"
        + r(64)
        + "\n-----END RSA PRIVATE KEY-----",
    )
    p(
        "openssh",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA"
        + r(46)
        + "\n-----END OPENSSH PRIVATE KEY-----",
    )
    p(
        "ec-pem",
        "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ" + r(58) + "\n-----END EC PRIVATE KEY-----",
        "the signer reads\n{}",
    )
    p(
        "pgp",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF"
        + r(58)
        + "\n-----END PGP PRIVATE KEY BLOCK-----",
    )
    p(
        "jwt",
        ".".join(
            (
                b64u(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()),
                b64u(json.dumps({"sub": r(10), "iat": R.randrange(10**9)}).encode()),
                b64u(rb(32)),
            )
        ),
        "the API answered with {}",
    )
    p(
        "url-password",
        "postgres://app:" + r(16) + "@db.internal:5432/app",
        "the worker reads {} at start",
    )
    p("url-https", "https://deploy:" + r(20) + "@git.acme.io/x.git", "cloned from {}")
    p(
        "mysql",
        "mysql://root:" + r(9, string.ascii_lowercase + string.digits) + "@10.1.2.3/orders",
        "it connects to {}",
    )
    p(
        "mongodb",
        "mongodb+srv://svc:" + r(14) + "@cluster0.ab1cd.mongodb.net/prod",
        "it connects to {}",
    )
    p("redis", "redis://:" + r(22) + "@cache.prod:6379/0", "celery uses {}")
    p("amqp", "amqp://worker:" + r(12) + "@mq.prod:5672/vhost", "celery uses {}")
    p(
        "azure-storage",
        base64.b64encode(rb(64)).decode(),
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
    )
    p("azure-client-secret", r(3) + "8Q~" + r(34, AN + "-_.~"), "AZURE_CLIENT_SECRET={}")
    p("sendgrid", "SG." + r(22, AN + "-_") + "." + r(43, AN + "-_"), "mail goes out with {}")
    p("twilio-key", "SK" + r(32, HEX), "TWILIO_API_KEY={}")
    p("twilio-auth", r(32, HEX), "TWILIO_AUTH_TOKEN={}")
    p("telegram", str(R.randrange(10**9, 10**10)) + ":AA" + r(33, AN + "-_"), "the bot {} posts")
    p(
        "discord",
        "MTA" + r(21) + "." + r(6, AN + "-_") + "." + r(38, AN + "-_"),
        "the bot logs in with {}",
    )
    p(
        "discord-webhook",
        f"https://discord.com/api/webhooks/{R.randrange(10**17, 10**18)}/" + r(68, AN + "-_"),
        "alerts {}",
    )
    p("password-assign", r(10) + "!7", 'the fixture has password = "{}" inside')
    p("password-env", r(14), "start it with DB_PASSWORD={} make up")
    p("password-yaml", r(12) + "#", "values.yaml holds `password: {}` for staging")
    p("password-prose", r(8) + "$9", "log in to staging as admin, the password is {}")
    p("bearer", r(40), "curl -H 'Authorization: Bearer {}' /v1/me")
    p(
        "basic-header",
        base64.b64encode(("svc:" + r(14)).encode()).decode(),
        "curl -H 'Authorization: Basic {}' /v1/me",
    )
    p(
        "heroku",
        "-".join((r(8, HEX), r(4, HEX), r(4, HEX), r(4, HEX), r(12, HEX))),
        "HEROKU_API_KEY={}",
    )
    p("heroku-new", "HRKU-AA" + r(58, AN + "-_"), "deploy with {}")
    p("datadog", r(32, HEX), "DD_API_KEY={} in the agent")
    p("datadog-app", r(40, HEX), "DATADOG_APP_KEY={} in the agent")
    p("digitalocean", "dop_v1_" + r(64, HEX), "doctl uses {}")
    p("digitalocean-oauth", "doo_v1_" + r(64, HEX), "doctl uses {}")
    p(
        "age",
        "AGE-SECRET-KEY-1" + r(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
        "sops decrypts with {}",
    )
    p("secret-key-assign", r(50, AN + "!@#$%^&*"), "SECRET_KEY = '{}' in settings.py")
    p("api-key-assign", r(32, HEX), 'api_key: "{}"')
    p("client-secret", r(40), 'client_secret="{}"')
    p("access-token", r(32), 'access_token = "{}"')
    p("shopify", "shpat_" + r(32, HEX), "{}")
    p("cloudflare", r(40, AN + "_-"), "CLOUDFLARE_API_TOKEN={}")
    p("linear", "lin_api_" + r(40), "{}")
    p("atlassian", "ATATT3xFfGF0" + r(172, AN + "-_=") + "=" + r(8, "ABCDEF0123456789"), "{}")
    p("notion", "ntn_" + str(R.randrange(10**10, 10**11)) + r(35), "{}")
    p("vault", "hvs." + r(92, AN + "-_"), "{}")
    p("terraform", r(14) + ".atlasv1." + r(64, AN + "-_"), "{}")
    p("docker-pat", "dckr_pat_" + r(27, AN + "-_"), "{}")
    p("mailgun", "key-" + r(32, HEX), "MAILGUN_KEY={}")
    p("mailchimp", r(32, HEX) + "-us14", "{}")
    p(
        "sentry",
        "sntrys_" + b64u(json.dumps({"iat": 1, "url": "x", "org": r(8)}).encode()) + "_" + r(43),
        "{}",
    )
    p("newrelic", "NRAK-" + r(27, UP), "{}")
    p("grafana", "glsa_" + r(32) + "_" + r(8, HEX), "{}")
    p("groq", "gsk_" + r(52), "{}")
    p("xai", "xai-" + r(80), "{}")
    p("perplexity", "pplx-" + r(48), "{}")
    p("replicate", "r8_" + r(37), "{}")
    p("supabase", "sbp_" + r(40, HEX), "{}")
    p("planetscale", "pscale_tkn_" + r(43, AN + "-_"), "{}")
    p("fly", "FlyV1 fm2_" + r(160, AN + "+/"), "{}")
    p("postman", "PMAK-" + r(24, HEX) + "-" + r(34, HEX), "{}")
    p("rubygems", "rubygems_" + r(48, HEX), "{}")
    p("netrc", r(16), "~/.netrc: machine api.acme.io login bot password {}")
    p("mysql-cli", r(12), "mysqldump -u root --password={} orders")
    p("curl-u", r(14) + "9", "curl -u admin:{} https://ci.acme.io/api")
    p("adonet", r(10) + "!3", "Server=db;Database=x;User Id=sa;Password={};")


def hexes(n):
    return r(n, HEX)


HARMLESS = [
    f"The regression came in with {hexes(40)} and went with {hexes(7)}.",
    f"Pin actions/checkout to {hexes(40)}: tags move.",
    f"The image digest sha256:{hexes(64)} is pinned in compose.yaml.",
    f"sha512-{base64.b64encode(rb(64)).decode()} in package-lock.json changes when the registry repacks.",
    f"integrity: sha384-{base64.b64encode(rb(48)).decode()} must match the CDN file",
    "The tenant id 3f2b8c1e-6d4a-4b7e-9a51-0c9d8e7f6a5b is hard-coded in the seed.",
    f"The SSH host fingerprint is SHA256:{base64.b64encode(rb(32)).decode().rstrip('=')}.",
    "MD5 fingerprint 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48 of the github host key",
    "Password resets must invalidate all sessions, or the old password works for an hour.",
    "The password field is hashed with argon2id; bcrypt truncates a password at 72 bytes.",
    "Set DATABASE_URL to postgres://USER:PASSWORD@host:5432/db before the tests.",
    "DATABASE_URL=postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app is expanded by compose, not by the app.",
    "Use https://<token>@github.com/org/repo.git for private clones.",
    "curl -H 'Authorization: Bearer <token>' works, a cookie does not.",
    'curl -H "Authorization: Bearer $TOKEN" needs double quotes.',
    "Authorization: Bearer xxxx is what the mock expects.",
    "Set API_KEY=xxxxxxxxxxxxxxxx in .env.example only.",
    'Set password = "changeme" only in the example file.',
    "password: example is the placeholder in the docs",
    "redis://localhost:6379/0 is the default broker.",
    "postgresql://postgres:postgres@localhost:5432/test is what CI uses for its throwaway database.",
    "mongodb://user:pass@localhost/db in the README is an example",
    "https://user:password@example.com/ is refused by newer curl.",
    "The class .css-1q2w3e4r5t-MuiButton-root changes with each build.",
    "CSS modules: Button_primary__3xK9f is stable only inside one build.",
    "arn:aws:iam::123456789012:role/deploy-prod lacks s3:PutObject on arn:aws:s3:::acme-prod-artifacts/*.",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf must be granted to the task role.",
    "Test test_login_redirects_to_dashboard[chromium-en_US-UTC] is flaky under load.",
    "tests/e2e/test_checkout.py::TestCheckout::test_pays_with_3ds_card_4000002500003155 needs the mock.",
    'Read the api key from os.environ["API_KEY"], never from the settings file.',
    "token = get_token(session) must be called inside the lock.",
    "password = os.environ['DB_PASSWORD'] raises at import time in the worker.",
    "api_key=settings.API_KEY was None in tests because of import order.",
    "secret: ${{ secrets.DEPLOY_KEY }} is empty on pull requests from forks.",
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }} cannot trigger another workflow.",
    "The `secret_key_base` is read from credentials.yml.enc; RAILS_MASTER_KEY must be set in CI.",
    "Kubernetes: secretKeyRef: name: db-credentials key: password must exist before the pod.",
    "The auth token expires after 3600 seconds, so long jobs must refresh the token themselves.",
    "The tokenizer drops U+00AD; token: soft-hyphenated words become two tokens.",
    "The access_token cookie is HttpOnly; access_token=deleted is what logout sends.",
    "The AWS_SECRET_ACCESS_KEY variable must be unset for the instance role to be used.",
    "AWS docs' example key AKIAIOSFODNN7EXAMPLE is accepted by the local stack.",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY is the documented example",
    "base64 of 'hello world' is aGVsbG8gd29ybGQ= and atob() cannot read base64url.",
    "The word VGhpc0lzQVRlc3RPZkJhc2U2NEVuY29kaW5n in the fixture decodes to a sentence.",
    "git bisect found 9fceb02d0ae598e95dc970b74767f19372d61af8 as the first bad commit",
    f'The ETag "{hexes(32)}" is the md5 of the object unless it is multipart.',
    "ticket PROJ-1234 and session 8f14e45f-ceea-467f-a0f6-1b2c3d4e5f60 belong together",
    "Learning cl_20260206_k3f9a2 supersedes cl_20260101_aaaaaa.",
    "nix hash: sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= is the empty file",
    "go.sum: github.com/stretchr/testify v1.8.4 h1:CcVxjf3Q8PM0mHUKJCdn+eZZtm5yQwehR5yeSVQQcUk= must be committed",
    'Cargo.lock checksum = "8b45f28dc1ca8b7b1a1c1a9b8a1e3a2b4c5d6e7f8091a2b3c4d5e6f708192a3b" differs between mirrors',
    "The public key ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl is in known_hosts.",
    "-----BEGIN CERTIFICATE----- blocks must end in a newline, or nginx refuses the chain.",
    "-----BEGIN PUBLIC KEY----- is what the verifier expects, not a certificate.",
    "The parser looks for the line `-----BEGIN RSA PRIVATE KEY-----`; PKCS#8 files say BEGIN PRIVATE KEY and were skipped.",
    "JWTs start with eyJhbGciOi because the header is JSON; our log filter matches on eyJ.",
    "Keys that start with sk_live_ are refused by the pre-commit hook; sk_test_ ones pass.",
    "GitHub tokens start with ghp_ or github_pat_; the scanner looked only for ghp_.",
    "Slack tokens look like xoxb-... and never go into the repo.",
    "The header X-Api-Key must be lower-cased by the proxy: x-api-key.",
    "The key `user:session:token:v2` in Redis holds a hash, not a string.",
    "CI_JOB_TOKEN can read the registry but not push to another project.",
    "Passing --password-stdin avoids the warning of docker login.",
    'docker login -u "$CI_USER" -p "$CI_PASSWORD" prints a warning; use --password-stdin.',
    "PGPASSWORD must be exported for pg_dump; .pgpass needs mode 0600.",
    "stripe.api_key = config.stripe_secret is set per request, as it is global state.",
    "process.env.STRIPE_SECRET_KEY is undefined in edge functions.",
    "const token = await auth.currentUser.getIdToken(true) forces a refresh.",
    "`jwt.decode(token, key, algorithms=['HS256'])` without algorithms accepts none.",
    "The secret sauce of the ranking is in rank/score.py:calculate_weight.",
    "password_hash, password_salt and password_updated_at are nullable for SSO users.",
    "Bearer tokens of the sandbox last ten minutes.",
    "basic auth: user `admin`, password is read from Vault at kv/ci/admin.",
    'api_key: "<your-api-key>" stays in the template',
    'token: "{{ vault_token }}" is rendered by Ansible',
    "MYSQL_ROOT_PASSWORD=root in docker-compose.test.yml is for the throwaway container.",
    "secret=None must be handled: HMAC with an empty key silently verifies everything.",
    "UserAuthenticationTokenRepositoryImplementationFactory is generated; do not edit it.",
    "/api/v1/organizations/{org_id}/projects/{project_id}/environments/{env_id}/secrets lists names only.",
    "QmYwAPJzv5CZsnA625s1Xf2nemtYgPpHdWEz79ojWWR0mJ is a CID of IPFS, not a secret.",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed is a checksummed address (EIP-55).",
    "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq was used as the test address",
    f"snapshot id snap-0{hexes(16)}, vpc-0{hexes(16)}, ami-0{hexes(16)} are eu-west-1 only.",
    f"trace id {hexes(32)} span {hexes(16)} shows the retry",
    f"Docker layer {hexes(64)} is rebuilt each time as COPY . comes first.",
    "The feature flag key checkout_v2_enabled_for_beta_users defaults to off.",
    "export SENTRY_DSN=https://examplePublicKey@o0.ingest.sentry.io/0 is public by design",
    "npm ci fails when NPM_TOKEN is unset as .npmrc says //registry.npmjs.org/:_authToken=${NPM_TOKEN}.",
    "pip index: https://pypi.org/simple/; use --index-url https://$USER:$TOKEN@nexus.acme.io/simple",
    "kubectl create secret generic db --from-literal=password=$PW",
    "The AccountKey=... part of the connection string must be URL-decoded.",
    "The password policy (12 characters, one digit) lives in auth/policy.py:MIN_LENGTH.",
    "password='test' in factories.py keeps login tests fast with MD5PasswordHasher",
    "Use `secrets.token_urlsafe(32)` for reset tokens, not random.choices.",
    "v1.StorageClass/gp3-encrypted-us-east-1a-20240101T000000Z is created by Terraform",
    "webpack emits main.8d3f1b2c9a7e4f60.js and vendors~main.1a2b3c4d5e6f7a8b.chunk.js",
    "The i18n key errors.password.too_short is missing in de.json",
    "ENV GH_TOKEN is read by gh; GITHUB_TOKEN has lower priority.",
    "OAuth: client_id=abc123.apps.googleusercontent.com is public, the client_secret is not.",
    "X-Amz-Signature in presigned URLs expires; X-Amz-Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request",
    "key: node-modules-${{ hashFiles('**/pnpm-lock.yaml') }} misses the Node version",
    'cache key v3-deps-{{ checksum "poetry.lock" }} must contain the arch',
    "token_type: bearer, expires_in: 3599 is what /oauth/token returns",
    "The auth: section of config needs `token: env:GH_TOKEN`",
    'secret_name = "prod/payments/db" is the path in Secrets Manager, not a value',
    "SECRET_KEY_FILE=/run/secrets/django_key is read at start",
    "api_key_id and api_key_secret are both required by the SDK since 4.0",
]

STAGED = [
    ("p1", "The staging admin panel takes user `ops` and password `Winter2024!`; ask nobody."),
    ("p2", "DB creds: svc_orders / 7yT!kq29Lm work from the bastion only."),
    ("p3", "export DATABASE_URL='postgresql+psycopg://orders:Vx81kq0Zt@10.2.0.7:5432/orders'"),
    ("p4", "spring.datasource.password=Hq72mmZ01x must be set"),
    ("p5", "JWT_SECRET=" + r(32) + " has to match the gateway"),
    ("p6", "the key is sk-ant-api03-" + r(40) + " for evals"),
    ("p7", "git clone https://x-access-token:ghs_" + r(36) + "@github.com/o/r"),
    ("p8", "OPENAI_API_KEY: sk-proj-" + r(40)),
    ("p9", "`aws configure set aws_secret_access_key " + r(40, AN + "+/") + "`"),
    ("p10", "sidekiq uses redis://default:" + r(18) + "@redis-12.c1.us.cloud.redislabs.com:12000"),
    (
        "p11",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0B\n"
        + r(64)
        + "\n-----END ENCRYPTED PRIVATE KEY-----",
    ),
    ("p12", "Authorization: token " + r(40, "0123456789abcdef")),
    ("p13", 'curl -H "X-Api-Key: ' + r(32) + '" https://api.acme.io'),
    ("p14", "Use `PGPASSWORD=s3cr3t-Pa55 psql -h db` to look."),
    ("p15", "smtp password for noreply@acme.io: kd82-Jq!mm91"),
    ("p16", "ELASTIC_PASSWORD=Zx9pLq4Rt7 in the compose file"),
    ("p17", "the vault root token is hvs." + r(24)),
    ("p18", "jdbc:mysql://db:3306/x?user=app&password=Qm8z4Lt0v"),
    ("p19", "Set the cookie session_token=" + r(40)),
    ("p20", "Server=tcp:acme.database.windows.net;User ID=sa;Password=Nn4!pqLz82;Encrypt=True"),
    ("p21", "ADMIN_PASSWORD: 'gr33n-Tiger!42'"),
    ("p22", '{"client_secret": "' + r(28) + '", "redirect": "x"}'),
    ("p23", "SLACK_SIGNING_SECRET=" + r(32, "0123456789abcdef")),
    ("p24", "webhook https://hooks.slack.com/services/T01ABCDEF/B02ABCDEF/" + r(24)),
    ("p25", "The wifi passphrase is Blue!Kettle77"),
    ("p26", "datadog: api_key: " + r(32, "0123456789abcdef")),
    ("p27", "login with admin:Sup3rS3cret! on the switch"),
    ("p28", "ssh deploy@host (password: Tr0ub4dor&3)"),
    ("p29", "CLOUDINARY_URL=cloudinary://" + r(15, string.digits) + ":" + r(27) + "@acme"),
    ("p30", "FIREBASE key AIzaSy" + r(33)),
    ("p31", "TWILIO_AUTH_TOKEN is " + r(32, "0123456789abcdef")),
    ("p32", "The bot token 7123456789:AA" + r(33) + " belongs to staging"),
    ("p33", "set `ANSIBLE_VAULT_PASSWORD=kX9fQ2mL8v`"),
    ("p34", "SENTRY_AUTH_TOKEN=" + r(64, "0123456789abcdef")),
    ("p35", "the master key (config/master.key) is " + r(32, "0123456789abcdef")),
    ("p36", "dotenv: STRIPE_SECRET_KEY=sk_live_51H" + r(90)),
    ("p37", "token=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + r(43)),
    ("p38", "password=hunter2 in config/database.yml"),
    ("p39", "NUGET_API_KEY=oy2" + r(43, string.ascii_lowercase + string.digits)),
    ("p40", "ADO PAT " + "AZURE_DEVOPS_EXT_PAT=" + r(52, string.ascii_lowercase + "234567")),
]

HARMLESS += [
    "Password reset tokens are single-use: reset_token_used_at must be set in the same transaction.",
    "The password must be 8-64 characters; longer ones hit bcrypt's 72-byte limit.",
    "The password is stored as $argon2id$v=19$... and verified in AuthService.verify().",
    "token: expired_token errors come from clock skew between api-1 and api-2.",
    "User accounts/Profile2 share a table; account: BillingAccount2 is the STI name.",
    "Login: /api/v2/login returns 302, not 401, when the CSRF token is stale.",
    "The user/admin2 role mapping is in rbac/policy.csv.",
    'credentials: "include" is needed for cross-site fetch with cookies.',
    "secret: true in the schema hides the field in logs.",
    "password: z.string().min(8) is checked on both sides.",
    "api_key: str = Field(..., alias='X-API-Key') is required by FastAPI.",
    "token: Annotated[str, Depends(oauth2_scheme)] breaks under TYPE_CHECKING.",
    "`secret_key = Rails.application.secret_key_base` is nil in the asset stage.",
    "Run `vault kv get -field=password kv/ci/db` to read it.",
    "docker run -p 8080:80 -u 1000:1000 avoids root-owned files.",
    'curl -u "$USER:$PASS" leaks in ps; use --netrc-file.',
    "mysql -h db -p orders asks for the password interactively.",
    "ssh -p 2222 deploy@host works after the port move.",
    "Set the token bucket to 100/s: token_rate=100, token_burst=200.",
    "max_tokens=4096 and token_limit: 128000 are separate limits.",
    "The tokenizer.json sha256 is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.",
    "csrf_token is rotated at login; tests must re-read it from the form.",
    "access_key_id: AKIA… never belongs in tfvars.",
    "auth: basic realm=Restricted is sent by nginx before the app sees the request.",
    "Basic authentication is disabled on SMTP since October.",
    "Basic dGVzdDp0ZXN0 decodes to test:test, which the mock accepts.",
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io" is the challenge.',
    "bearerToken is camelCase in the Java client and bearer_token in Python.",
    "The secret is to call flush() before fork2().",
    "The secret in k8s is base64, not encrypted: anyone with get on secrets/v1 reads it.",
    "Secret name: payments-db-credentials-v2 (rotated each 90d).",
    "passwordless login uses WebAuthn level2 with residentKey=required.",
    "HKDF salt: sha256(tenant_id) keeps keys apart.",
    'session_key = f"{tenant}:{user_id}" collides when tenant is None.',
    "encryption_key: arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab must be in the same region.",
    "storage_key=uploads/2024/05/report_v2_final.pdf is the S3 key pattern.",
    "service_key: orders-api-v2 names the service in the mesh.",
    "account_key=acct_main_2 is the ledger column.",
    "cookie_key=SESSIONID2 is what the load balancer sticks on.",
    "client_key: certs/client-key.pem is relative to the chart.",
    "private_key: file:///etc/ssl/private/app2.key is mounted read-only.",
    "ssl_key_password_file=/run/secrets/ssl_pw is the only supported way.",
    "jwt_key_id: 2024-05-rotation-b selects the signing key.",
    "app_key: config('app.key') must be 32 bytes in Laravel.",
    "The URL http://localhost:8080/auth/realms/acme@v2 broke the regex.",
    "proxy http://user:pass@proxy:3128 must be percent-encoded.",
    "amqp://guest:guest@rabbitmq:5672// has a double slash for the default vhost.",
    "sqlalchemy.url = driver://user:pass@localhost/dbname is alembic's template.",
    "redis://:password@redis:6379 is what the chart renders by default.",
    "S3 key layout: tenants/{tenant_id}/exports/{yyyy}/{mm}/data-0001.parquet",
    "The API key header is X-Acme-Key-V2, the old X-Acme-Key stops in March.",
    "token (see RFC6749 section 4.1.3) must be sent in the body.",
    "password (NIST800-63B) rules: no composition rules.",
    "The password hash uses PBKDF2WithHmacSHA256; 310000 iterations.",
    "secret scanning (gitleaks 8.18.2) runs pre-commit.",
    "the token from login (JWT RS256) must carry aud=orders-api",
    "Log in as admin@example.com / admin in the demo seed.",
    "the user: 42/Active filter is wrong",
    "The credentials provider chain: Env2Profile/WebIdentity/IMDSv2 order matters.",
    "Mock password 'correct-horse' is used in factories.",
    "git config credential.helper 'cache --timeout=3600' keeps it",
    'HTTP 401 with WWW-Authenticate: Bearer error="invalid_token" means expired',
    "pass: boolean, reason: string is the shape of a check result",
    'key_pass in gradle.properties is read through providers.gradleProperty("KEY_PASS")',
    "set -o pipefail; token=$(gh auth token) works in CI",
    "TOKEN=`cat /var/run/secrets/kubernetes.io/serviceaccount/token`",
    "pwd: /home/runner/work/app2/app2 is printed twice",
    "PWD=/srv/app-v2/current is stale after symlink swaps",
    "oldpwd=$PWD; cd build2",
    "The nonce in CSP is base64: script-src 'nonce-2726c7f26c' must change per request.",
    "SRI: sha256-BpfBw7ivV8q2jLiT13fxDYAe2tJllusRSZ273h2nFSE= for the inline script",
    "OAuth state=af0ifjsldkj and nonce=n-0S6_WzA2Mj are bound to the session",
    "PKCE: code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM is S256 of the verifier",
    "GITHUB_SHA=ffac537e6cbbf934b08745a378932722df287a53 is the merge commit in PR builds",
    "session.id=8f14e45fceea467fa0f61b2c3d4e5f60 appears in the access log",
    "kid: 2b5f1a7c-prod selects the JWK; kid: NEE1QURBOTM4MzI5RkFDNTYxOTU1MDg2ODgwQ0UzMTk1QjYyRkRFQw is Auth0's",
    "Set AWS_PROFILE=acme-prod2 and AWS_REGION=eu-west-1",
    "the fixture user password123 fails the new strength check",
    "rename `secretRef` to `secretKeyRef` in values-prod2.yaml",
    "Idempotency-Key: 7c9e6679-7425-40de-944b-e07fc1f90ae7 must be reused on retry",
    "X-Request-Id: 01HQ3Z6K3J9VX0Y8T5R2W4N7QB is a ULID",
    "dedupe_key=order-2024-000123 expires after 24h",
    "partition_key: customer#42 sort_key: order#2024-05-01",
    "idempotency_token = uuid4().hex is generated per attempt",
    "sync_token: v2:1714560000 must be persisted after each page",
    "next_page_token=Cg0xMjM0NTY3ODkwMTIz is opaque and expires in an hour",
]


@pytest.mark.parametrize(
    ("secret", "text"), [pytest.param(s, x, id=f"{k}-{n}") for n, (k, s, x) in enumerate(P)]
)
def test_a_secret_is_found_and_masked(secret, text):
    found = find_secrets(text)
    assert found
    for one in found:
        value = text[one.start : one.end]
        assert one.digest == digest_of(value)
        assert value not in one.masked
        assert str(len(value)) in one.masked
        assert len(one.masked.split("*")[0]) <= 4


@pytest.mark.parametrize("text", [pytest.param(x, id=k) for k, x in STAGED])
def test_a_secret_amid_a_lesson_is_found(text):
    assert find_secrets(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_lesson_about_secrets_passes(text):
    assert [(one.kind, text[one.start : one.end]) for one in find_secrets(text)] == []


# What follows is put together from pieces, so that no value stands here as it would in a lesson.
RUN = "kL9v" + "Qx2m" + "Pz71"
MARKED = "aB3" + "{}" + "x" + "L9" + "q2"
KEY_LINES = ["-----BEGIN RSA PRIVATE" + " KEY-----", *(r(64) for _ in range(4))]
GITHUB = "ghp" + "_" + "a1B2c3D4" * 4 + "e5F6"
HASHED = r(8) + "$" + r(86)

PREFIXES = ["> ", "# ", "* ", "| ", "+ ", "+", "- ", "// ", "12\t", "  7: ", "    ", "12 | "]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_private_key_is_found_behind_what_quotes_its_lines(prefix):
    assert find_secrets("\n".join(prefix + line for line in KEY_LINES))


@pytest.mark.parametrize("form", ['"{}\\n"', "'{}\\r\\n' +", "{}\\\\n"])
def test_a_private_key_is_found_in_source_code(form):
    assert find_secrets("\n".join(form.replace("{}", line) for line in KEY_LINES))


@pytest.mark.parametrize(
    "middle", ["(dk9)", "[Kd93", "{kDk}83", "<d", "9)", "...Kd", "00000000", "kxxxx"]
)
def test_a_bracket_or_a_repeat_inside_makes_no_placeholder(middle):
    value = MARKED.replace("{}", middle)
    assert find_secrets(f"DB_PASSWORD='{value}'")


@pytest.mark.parametrize("mark", "()[]{}")
def test_a_generated_password_with_a_bracket_is_found_in_a_url(mark):
    value = MARKED.replace("{}", "k" + mark + "9")
    assert find_secrets(f"postgres://app:{value}@db.prod/app")


def test_a_generated_key_of_a_framework_is_found():
    assert find_secrets(
        "SECRET_KEY = '" + "7p9pb0-^tdbm5*^0fqo&1xo5" + "c(v-0x*zmas=6en5mt)mo3oq+s'"
    )


NOT_ADJACENT = [
    "os.environ['DB_PASSWORD']='{}'",
    'config["password"] = "{}"',
    "headers['X-Auth-Token'] = '{}'",
    "**Password:** {}",
    "**Password**: `{}`",
    "| password | {} |",
    "| DB password | `{}` | staging |",
    '- name: DB_PASSWORD\n  value: "{}"',
    '{"name": "API_TOKEN",\n "value": "{}"}',
    "password:\n  {}",
    "password: >-\n  {}",
    "CREATE USER app IDENTIFIED BY '{}'",
    '<add key="Password" value="{}" />',
    '<property name="db.password" value="{}"/>',
    "password → {}",
    "password -> {}",
    "export API_TOKEN=$'{}'",
    "pw: {}",
    "pass: {}",
    "Kennwort: {}",
    "Passwort: {}",
    "contraseña: {}",
    "mot de passe : {}",
    "Das Passwort lautet {} und gilt bis Mai",
    "log in as bob with password {} on the bastion",
    "user admin pass {}!",
    "SYNC_TOKEN={}",
    "Cookie: theme=dark; sessionid={}{}",
    "https://x.blob.core.windows.net/c?sv=2020&sig={}{}{}{}%3D",
    'ConvertTo-SecureString "{}" -AsPlainText',
    "openssl rsa -passin pass:{} -in key.pem",
    "openssl enc -aes-256-cbc -k {} -in x",
    "jdbc:oracle:thin:scott/{}@db:1521/x",
    "API key: {}",
]


@pytest.mark.parametrize("form", NOT_ADJACENT)
def test_a_value_is_found_in_every_form_of_naming_it(form):
    assert find_secrets(form.replace("{}", RUN))


def test_a_user_and_a_password_in_base64_are_found():
    coded = base64.b64encode(f"bob:{RUN}".encode()).decode()
    assert find_secrets(json.dumps({"auths": {"r": {"auth": coded}}}))
    assert find_secrets(f"_auth={coded}")


def test_a_token_in_place_of_a_user_is_found():
    assert find_secrets(f"https://{hexes(40)}@git.acme.io/x.git")


@pytest.mark.parametrize(
    "value", ["$6$" + HASHED, "$apr1$" + r(8) + "$" + r(22), "$2b$12$" + r(53)], ids=str.__len__
)
def test_a_hash_of_a_password_is_found(value):
    assert find_secrets(f"root:{value}:1:")


@pytest.mark.parametrize(
    "parts",
    [
        ("Company", "-2024"),
        ("summer", "-2024-", "tokyo"),
        ("prod", "_db_", "2024_pw"),
        ("admin", "2024!"),
        ("letmein", "99!"),
    ],
)
def test_words_and_a_number_are_a_password_where_one_is_assigned(parts):
    value = "".join(parts)
    assert find_secrets(f"password={value}")
    assert find_secrets(f"password: {value} opens the panel")


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(GITHUB.encode()).decode(),
        base64.urlsafe_b64encode(f"token={GITHUB}".encode()).decode(),
        base64.b64encode("\n".join(KEY_LINES).encode()).decode(),
        base64.encodebytes("\n".join(KEY_LINES).encode()).decode(),
        GITHUB.replace("_", "\\_"),
        GITHUB.replace("_", "%5F"),
        GITHUB.replace("_", "&#95;"),
        "".join(f"%{ord(character):02x}" for character in GITHUB),
        "".join(chr(ord(character) + 0xFEE0) for character in GITHUB),
    ],
)
def test_an_encoding_hides_nothing(text):
    written = f"the job uses {text} since May"
    (found,) = find_secrets(written)
    assert written[found.start : found.end].strip() in text
    assert found.end - found.start >= len(text.strip()) - 2


HARMLESS_TERMS = [
    "access token lifetime is PT15M30S",
    "The password was UTF-16LE+base64 for PowerShell",
    "the secret is K8sSealedSecretV2",
    "access_key: AccessKeyV2Model",
    "deploy_key=id_ed25519_deploy2",
    "password: minLength8+1upper",
    "password='hunter2' in tests/fixtures fails validators",
    "auth_token=get_token(user_id=42)",
    "password = conf2['db2'] is read once",
    "password: ${DB_PASSWORD:-changeme1}",
    "password = hash_password(raw, rounds=12)",
    "password:\n  minLength: 8",
    "password:\n  The login page asks twice since v2.",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: db-v2",
    "| password | varchar255 | not null |",
    "| token | string | opaque since v2 |",
    "pass: 12/12 tests since python3.12",
    "Cookie: session_hint=dark; locale=de_DE.UTF-8",
    "https://readme-of-the-project-team@example.org/x",
    "password is `$argon2id$v=19$m=65536,t=3,p=4$...`",
]


@pytest.mark.parametrize("text", HARMLESS_TERMS)
def test_a_term_of_the_trade_passes(text):
    assert [(one.kind, text[one.start : one.end]) for one in find_secrets(text)] == []


def test_invisible_characters_hide_nothing():
    token = "ghp_" + "a1B2c3D4" * 5
    assert find_secrets(token[:10] + "\u200b" + token[10:])


def test_long_texts_take_no_long_time():
    """Every rule is bounded; a rule that is not takes minutes for one of these."""
    for piece in ("api_key_", "password ", "//", "a://", "eyJ", "BEGIN PRIVATE KEY-----", "\"'"):
        find_secrets(piece * (40_000 // len(piece)))
    for piece in (
        "password:\n",
        "name: pw\n",
        "&#95;",
        "BEGIN PRIVATE KEY-----\n> ",
        "| pw ",
        "a(b.",
    ):
        find_secrets(piece * (40_000 // len(piece)))


def test_a_secret_far_down_a_long_line_is_found():
    assert find_secrets("word " * 5_000 + "ghp_" + "a1B2c3D4" * 5)


TOKEN = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"summary": TOKEN}, "summary"),
        ({"detail": f"it is {TOKEN}."}, "detail"),
        ({"tags": ["a", TOKEN]}, "tags"),
        ({"context_files": [f"src/{TOKEN}.py"]}, "context_files"),
        ({"supersedes": [TOKEN]}, "supersedes"),
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
    leak = find_leak(f"{TOKEN} and AKIA" + "Q3EGR7Z2XK4T5V6W", (), "detail")
    assert digest_of(TOKEN) in leak.words
    assert find_leak(TOKEN, (digest_of(TOKEN),)) is None
    other = find_leak(f"{TOKEN} and AKIA" + "Q3EGR7Z2XK4T5V6W", (digest_of(TOKEN),))
    assert other.secret.digest == digest_of("AKIA" + "Q3EGR7Z2XK4T5V6W")


def test_a_secret_beside_the_candidates_is_left_out_and_named():
    sent = {
        "candidates": [],
        "learnings_used": [{"id": "cl_a", "how": TOKEN}, {"id": "cl_b", "how": "it saved an hour"}],
        "corrections": [{"id": "cl_c", "why": TOKEN}],
        "ratings": [{"id": "cl_d", "useful": True}],
        "notes": f"cl_a and {TOKEN}",
        "nothing_learned": f"the token is {TOKEN}",
        TOKEN: 1,
    }
    submission, warnings = without_secrets(parse_submission(json.dumps(sent).encode()), ())
    assert [(one.id, one.how) for one in submission.learnings_used] == [
        ("cl_a", None),
        ("cl_b", "it saved an hour"),
    ]
    assert [(one.id, one.why) for one in submission.corrections] == [("cl_c", None)]
    assert [one.learning_id for one in submission.ratings] == ["cl_d"]
    assert submission.notes == ""
    assert submission.nothing_learned is None
    assert submission.unknown_fields == ()
    assert len(warnings) == 5
    assert TOKEN not in " ".join(warnings)


def test_the_detector_is_imported_only_when_a_text_is_checked():
    script = (
        "import sys, grove_core.reflection.secrets.screening, grove_core.reflection.secrets as s;"
        "assert 'detect_secrets' not in sys.modules; s.find_secrets('long enough');"
        "assert 'detect_secrets' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


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
