"""Documented forms of tokens that the detector has no rule for, or an older one."""

from typing import Final

# Forty characters of base64 are nothing special, so the words before them must say what they are.
_AFTER_AWS_WORDS: Final = (
    r"(?i:aws|secret.?access.?key)[^\n]{0,60}?(?<![A-Za-z0-9/+=])"
    r"((?=[^\n]{0,39}[0-9])(?=[^\n]{0,39}[A-Z])(?=[^\n]{0,39}[a-z])[A-Za-z0-9/+]{40})"
    r"(?![A-Za-z0-9/+=])"
)

_HASHED: Final = (
    r"\$(?:[156]|apr1)\$(?:rounds=\d{1,9}\$)?[./\w-]{1,16}\$[./A-Za-z0-9]{22,}"
    r"|\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|\$(?:y|gy|7)\$[./\w]{1,10}\$[./\w]{1,86}\$[./\w]{43}"
    r"|\$argon2(?:id|i|d)\$v=\d+\$[\w=,]{6,40}\$[\w+/]{8,64}\$[\w+/]{20,}"
)

DOCUMENTED_FORMATS: Final[tuple[tuple[str, str], ...]] = (
    # GitHub blog, "Behind GitHub's new authentication token formats"; docs.github.com, "About
    # authentication to GitHub".
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"),
    # docs.gitlab.com, "GitLab token overview", table of token prefixes.
    (
        "GitLab token",
        r"\bgl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w-]{20,}(?:\.\d\d\.[a-z0-9]{7,})?",
    ),
    # docs.slack.dev, "Tokens" and "Sending messages using incoming webhooks".
    ("Slack token", r"\bxox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}|\bxapp-\d-[A-Za-z0-9-]{20,}"),
    (
        "Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]+/[A-Za-z0-9/]{16,}",
    ),
    # docs.stripe.com, "API keys" and "Check the webhook signatures".
    ("Stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}"),
    # cloud.google.com, "Authenticate using API keys"; developers.google.com/identity, "OAuth 2.0
    # for web server applications" (client secrets, access and refresh tokens).
    ("Google API key", r"\bAIza[\w-]{35}"),
    ("Google OAuth secret", r"\bGOCSPX-[\w-]{20,}|\bya29\.[\w-]{20,}|\b1//0[\w-]{40,}"),
    # docs.aws.amazon.com, "IAM identifiers" (unique prefixes) and "Amazon Bedrock API keys".
    ("AWS access key id", r"\b(?:AKIA|ASIA|ABIA|ACCA)(?=[A-Z0-9]*\d)[A-Z0-9]{16}\b"),
    ("AWS secret key", _AFTER_AWS_WORDS),
    ("AWS Bedrock key", r"\bABSK[A-Za-z0-9+/]{80,}={0,2}"),
    # platform.openai.com/docs, "API keys" and "Project service accounts".
    ("OpenAI key", r"\bsk-(?:proj|svcacct|admin|None)-[\w-]{20,}|\bsk-[A-Za-z0-9]{32,}"),
    # docs.claude.com, "API overview" and "Admin API".
    ("Anthropic key", r"\bsk-ant-[a-z]+\d*-[\w-]{20,}"),
    # openrouter.ai/docs, "Authentication".
    ("OpenRouter key", r"\bsk-or-v1-[0-9a-f]{32,}"),
    # huggingface.co/docs/hub, "User access tokens".
    ("Hugging Face token", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    # console.groq.com/docs; docs.x.ai; docs.perplexity.ai; replicate.com/docs; docs.nvidia.com/nim:
    # "API keys" each.
    ("Groq key", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("xAI key", r"\bxai-[A-Za-z0-9]{40,}"),
    ("Perplexity key", r"\bpplx-[A-Za-z0-9]{40,}"),
    ("Replicate token", r"\br8_[A-Za-z0-9]{37,}"),
    ("NVIDIA key", r"\bnvapi-[\w-]{40,}"),
    # docs.smith.langchain.com, "Create an account and API key".
    ("LangSmith key", r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{6,}"),
    # GitHub blog, "npm has a new access token format".
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
    # pypi.org/help, "How can I use API tokens to authenticate with PyPI?" (a macaroon).
    ("PyPI token", r"\bpypi-[\w-]{50,}"),
    # guides.rubygems.org, "API key scopes"; doc.rust-lang.org/cargo, "Publishing on crates.io".
    ("RubyGems key", r"\brubygems_[0-9a-f]{40,}"),
    ("crates.io token", r"\bcio[A-Za-z0-9]{32}\b"),
    # twilio.com/docs/sendgrid, "API keys".
    ("SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{32,}"),
    # documentation.mailgun.com, "API keys"; developers.brevo.com, "Authentication".
    ("Mailgun key", r"\bkey-[0-9a-f]{32}\b"),
    ("Brevo key", r"\bxkeysib-[0-9a-f]{40,}-\w{8,}"),
    # core.telegram.org/bots/api, "Authorizing your bot".
    ("Telegram bot token", r"\b\d{8,10}:AA[\w-]{30,}"),
    # discord.com/developers/docs, "Webhook resource" and "Reference: authentication".
    ("Discord webhook", r"\bdiscord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{30,}"),
    ("Discord bot token", r"\b[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}"),
    # learn.microsoft.com, "Send messages with incoming webhooks".
    ("Microsoft Teams webhook", r"\bwebhook\.office\.com/webhookb2/[\w@-]{30,}"),
    # learn.microsoft.com, "Microsoft Entra credential formats": 7Q~ and 8Q~ mark client secrets.
    ("Azure client secret", r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}"),
    # learn.microsoft.com, "Manage storage account access keys", "Storage connection strings".
    ("Azure storage key", r"\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}"),
    # devcenter.heroku.com, "Heroku API token formats".
    ("Heroku key", r"\bHRKU-[\w-]{32,}"),
    # docs.digitalocean.com, "Personal access tokens" (prefixes dop, doo, dor).
    ("DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{40,}"),
    # github.com/FiloSottile/age, "age(1)"; the C2SP specification of age.
    ("age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    # shopify.dev, "Authentication and authorization: access tokens".
    ("Shopify token", r"\bshp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    # linear.app/developers; developer.atlassian.com "API tokens"; developers.notion.com.
    ("Linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("Atlassian token", r"\bAT(?:ATT|CTT|BB)3?[A-Za-z0-9][\w=-]{28,}"),
    ("Notion token", r"\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b"),
    # developers.figma.com, "Access tokens"; airtable.com/developers, "Personal access tokens".
    ("Figma token", r"\bfig[dou]r?_[\w-]{36,}"),
    ("Airtable token", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    # developer.hashicorp.com, "Vault tokens" and "HCP Terraform API tokens".
    ("Vault token", r"\bhv[sbr]\.[\w-]{20,}"),
    ("Terraform token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    # docs.docker.com, "Create and manage access tokens".
    ("Docker token", r"\bdckr_(?:pat|oat)_[\w-]{20,}"),
    # docs.sentry.io, "Auth tokens"; docs.newrelic.com, "New Relic API keys"; grafana.com/docs,
    # "Service accounts"; docs.sonarsource.com, "Managing your tokens"; docs.dynatrace.com, "Access
    # tokens"; docs.datadoghq.com, "API and application keys" (the prefixed form).
    ("Sentry token", r"\bsntry[su]_[\w+/=-]{40,}"),
    ("New Relic key", r"\bNR(?:AK|JS|II|IQ|RA)-[A-Za-z0-9_-]{19,}"),
    ("Grafana token", r"\bgls?a_[A-Za-z0-9]{32}_[0-9a-f]{8}|\bglc_[A-Za-z0-9+/]{32,}"),
    ("SonarQube token", r"\bsq[upa]_[0-9a-f]{40}"),
    ("Dynatrace token", r"\bdt0[a-z]\d{2}\.[A-Z2-7]{24}\.[A-Z2-7]{64}"),
    # supabase.com/docs, "Understanding API keys"; planetscale.com/docs, "Service tokens";
    # fly.io/docs, "Access tokens"; docs.netlify.com; neon.com/docs, "Manage API keys".
    ("Supabase key", r"\bsbp_[0-9a-f]{40}|\bsb_secret_[\w-]{20,}"),
    ("PlanetScale token", r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    ("Fly.io token", r"\b(?:FlyV1 )?fm[12][ar]?_[A-Za-z0-9+/=]{40,}"),
    ("Netlify token", r"\bnf[pcoub]_[A-Za-z0-9]{36,}"),
    ("Neon key", r"\bnapi_[a-z0-9]{40,}"),
    # learning.postman.com, "Postman API keys"; docs.databricks.com, "Personal access tokens";
    # docs.doppler.com, "Token formats"; pulumi.com/docs, "Access tokens"; tailscale.com/kb, "Key
    # prefixes"; buildkite.com/docs, "Token security"; circleci.com/docs, "Managing API tokens".
    ("Postman key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Databricks token", r"\bdapi[0-9a-f]{32}"),
    ("Doppler token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.]{40,}"),
    ("Pulumi token", r"\bpul-[0-9a-f]{40}"),
    ("Tailscale key", r"\btskey-[a-z]+-[\w-]{20,}"),
    ("Buildkite token", r"\bbk(?:ua|aj|ct)_[A-Za-z0-9]{36,}"),
    ("CircleCI token", r"\bCCI(?:PAT|PRJ)_[A-Za-z0-9]+_[0-9a-f]{40}"),
    # docs.mapbox.com, "Access tokens" (sk is secret, pk public).
    ("Mapbox token", r"\bsk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    # razorpay.com/docs; plaid.com/docs, "Tokens"; developer.squareup.com, "Access tokens".
    ("Razorpay key", r"\brzp_live_[A-Za-z0-9]{14,}"),
    ("Plaid token", r"\baccess-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}"),
    ("Square token", r"\bsq0(?:atp|csp|idp)-[\w-]{22,}|\bEAAA[\w-]{60}"),
    # jfrog.com/help, "Access tokens" (reference tokens start with the coded word "reftkn").
    ("JFrog token", r"\bcmVmdGtu[A-Za-z0-9]{40,}|\bAKCp[A-Za-z0-9]{50,}"),
    # crypt(5), "Available hashing methods"; httpd.apache.org, "Password formats"; RFC 9106.
    (
        "password hash",
        _HASHED,
    ),
    # learn.microsoft.com, "Create a service SAS": the signature is base64, percent-encoded.
    ("Azure SAS signature", r"(?<=[?&]sig=)[\w+/%-]{40,}=?"),
    # github.com/openssh/openssh-portable, PROTOCOL.key: the magic words, without the lines around.
    ("private key", r"\bb3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,}={0,2}"),
    # guides.rubyonrails.org, "Securing Rails applications", custom credentials.
    ("Rails master key", r"\bmaster\.key\b[^\n]{0,30}?\b([0-9a-f]{32})\b"),
    # developer.1password.com, "Service accounts".
    ("1Password token", r"\bops_eyJ[\w-]{60,}"),
)
"""What it is, and a regular expression for it, by provider."""
