"""What counts as the same lesson in other words, and what as an echo of what was shown."""

import pytest

from grove_core.model.learning import Candidate, Category
from grove_core.reflection.duplicates import KnownSummary, find_duplicate, normalised_summary
from grove_core.reflection.echo import ShownText, find_echo

SAME = [
    (
        "Redis connections leak when the worker forks after the pool was created",
        "The pool in app/cache.py is made at import; gunicorn forks later and children share sockets. Create the pool in post_fork.",
        "Forking the worker after creating the Redis pool leaks connections",
        "gunicorn children share the sockets of the pool that app/cache.py creates at import. Make the pool in the post_fork hook instead.",
    ),
    (
        "Migrations must not rename columns in one release",
        "The old pods still write to the old column during the rollout, so a rename breaks them. Add the new column, backfill, and drop the old one a release later.",
        "Renaming a column in one release breaks the rollout",
        "Old pods write to the old column while the new ones start. Add a new column, backfill it, drop the old column in the next release.",
    ),
    (
        "Stripe webhooks arrive out of order",
        "invoice.paid can come before invoice.created; handlers in billing/webhooks.py must fetch the object from the API instead of trusting the payload order.",
        "The order of Stripe webhooks is not guaranteed",
        "billing/webhooks.py handlers must fetch the object from the API, because invoice.paid may arrive before invoice.created.",
    ),
    (
        "pytest-xdist workers share the tmp database unless the name has the worker id",
        "tests/conftest.py builds the database name; without PYTEST_XDIST_WORKER in it two workers truncate each other's tables.",
        "Each xdist worker needs its own database name",
        "Workers truncate each other's tables when tests/conftest.py does not put PYTEST_XDIST_WORKER into the name of the tmp database.",
    ),
    (
        "The CSV export must be written with a BOM for Excel",
        "Excel on Windows reads UTF-8 without a BOM as cp1252 and garbles umlauts; exports/csv.py writes utf-8-sig.",
        "Excel garbles umlauts in CSV exports without a BOM",
        "exports/csv.py has to write utf-8-sig, as Excel on Windows takes UTF-8 without BOM for cp1252.",
    ),
    (
        "Celery tasks must take ids, not model objects",
        "A pickled Order is stale when the task runs: the price had changed and tasks/invoice.py billed the old one. Pass order_id and load it in the task.",
        "Pass ids to Celery tasks instead of model objects",
        "tasks/invoice.py billed an old price since the pickled Order was stale when the task ran; pass order_id and load the order in the task.",
    ),
    (
        "npm ci fails when package-lock.json was made with another npm major",
        "CI uses npm 10; lockfiles written by npm 11 have fields that npm 10 refuses. Use the version in .nvmrc and corepack.",
        "package-lock.json must be written by the npm major that CI uses",
        "npm ci of npm 10 in CI refuses lockfiles with fields of npm 11, so use corepack and the version of .nvmrc.",
    ),
    (
        "Timezone of the nightly job is UTC, not Europe/Berlin",
        "The cron in deploy/nightly.yaml runs in UTC; the report was empty for two hours in summer because the day boundary differs.",
        "The nightly cron runs in UTC",
        "deploy/nightly.yaml has no timezone, so the day boundary of the report is UTC and not Europe/Berlin; in summer the report was empty for two hours.",
    ),
    (
        "The search index must be rebuilt after changing the analyzer",
        "OpenSearch keeps the old tokens; search/reindex.py --alias products swaps the alias after a full rebuild.",
        "Changing the OpenSearch analyzer needs a full rebuild of the index",
        "Old tokens stay in the index otherwise. Run search/reindex.py --alias products, which rebuilds and swaps the alias.",
    ),
    (
        "React effects run twice in development under StrictMode",
        "The analytics event page_view was sent twice only locally; useEffect in Tracker.tsx needs a ref guard or the event belongs into the router.",
        "StrictMode runs React effects twice in development",
        "useEffect in Tracker.tsx sent page_view twice locally under StrictMode; guard with a ref or move the analytics event to the router.",
    ),
    (
        "Terraform plans differ when the provider lock lacks linux_arm64",
        "CI runners are arm64 since May; terraform providers lock -platform=linux_arm64 must be run before committing .terraform.lock.hcl.",
        "The Terraform provider lock needs the linux_arm64 platform",
        "Run terraform providers lock -platform=linux_arm64 and commit .terraform.lock.hcl, as CI runners are arm64 since May.",
    ),
    (
        "Decimal amounts are stored in cents as integers",
        "Payment.amount is an integer number of cents; dividing by 100 happens in the serializer only.",
        "Payment.amount holds integer cents",
        "Amounts are stored as an integer number of cents and only the serializer divides by 100.",
    ),
    (
        "S3 presigned uploads fail with a wrong Content-Type header",
        "The signature covers the header; the browser sends image/jpg while the server signed image/jpeg. Use the type of the file input for both.",
        "Presigned S3 uploads fail if Content-Type differs from the signed one",
        "The header is covered by the signature: server signed image/jpeg, browser sent image/jpg. Sign the type of the file input.",
    ),
    (
        "The feature flag client caches values for 60 seconds",
        "Toggling a flag in flags/admin does nothing at once; integration tests must call flags.refresh() or wait.",
        "Feature flag values are cached for 60 seconds by the client",
        "Integration tests must call flags.refresh(), since toggling a flag in flags/admin does not take effect at once.",
    ),
    (
        "Rails enum columns must not be reordered",
        "Order.status is stored as an integer index; inserting a value in the middle changed the meaning of old rows. Append only.",
        "Append new values to Rails enums, never insert in the middle",
        "The integer index of Order.status is stored, so inserting a value in the middle changes the meaning of old rows.",
    ),
    (
        "Docker builds miss the cache because COPY . comes before pip install",
        "Any change of a source file invalidates the layer; copy requirements.txt first and install, then copy the rest.",
        "Copy requirements.txt before the sources to keep the Docker cache",
        "COPY . before pip install invalidates the layer on any change of a source file. Install from requirements.txt first.",
    ),
    (
        "gRPC keepalive must be below the load balancer's idle timeout of 60 s",
        "The AWS NLB drops idle flows silently; clients hang until the deadline. GRPC_ARG_KEEPALIVE_TIME_MS is 30000 in rpc/client.py.",
        "Idle gRPC connections are dropped by the load balancer after 60 s",
        "Clients then hang until the deadline, as the AWS NLB drops flows silently. Set GRPC_ARG_KEEPALIVE_TIME_MS to 30000 in rpc/client.py.",
    ),
    (
        "The permission check of the admin API sits in middleware/authz.ts, not in the handlers",
        "Handlers that are mounted before the middleware are open to anybody; mount new routers after app.use(authz).",
        "New admin routers must be mounted after app.use(authz)",
        "The permission check is in middleware/authz.ts and not in handlers, so a router mounted before it is open to anybody.",
    ),
    (
        "Protobuf field numbers of deleted fields must be reserved",
        "Reusing number 7 in order.proto let old clients read the discount as a quantity. Add a reserved line when deleting.",
        "Reserve the numbers of deleted Protobuf fields",
        "When field 7 of order.proto was reused, old clients read the discount as a quantity; deleting needs a reserved line.",
    ),
    (
        "git blame is useless in src/generated: files are rewritten by make codegen",
        "Do not edit there, edit schema/*.yaml and run make codegen; CI compares the output.",
        "Do not edit src/generated, edit schema/*.yaml and run make codegen",
        "CI compares the output of make codegen with the files, which are rewritten; so git blame is useless there.",
    ),
]
OTHER = [
    (
        "Redis pool must be created after the fork",
        "gunicorn children share sockets made at import in app/cache.py; create the pool in post_fork.",
        "Redis pool size must match the number of threads",
        "With max_connections below the thread count app/cache.py raises ConnectionError under load; gunicorn runs 8 threads.",
    ),
    (
        "Stripe webhooks arrive out of order",
        "billing/webhooks.py must fetch the object instead of trusting the payload order.",
        "Stripe webhooks are retried for three days",
        "billing/webhooks.py must be idempotent: the same event id comes again after a timeout, and invoices were booked twice.",
    ),
    (
        "The alpha service needs its own queue",
        "Seen in src/alpha.py: jobs of others starve it for minutes.",
        "The bravo service needs its own queue",
        "Seen in src/bravo.py: jobs of others starve it for minutes.",
    ),
    (
        "orders.created_at is in UTC",
        "The orders table stores UTC; convert in the view models only.",
        "orders.created_at has no index",
        "Reports over the orders table by created_at scan 40 M rows; filter by id range first.",
    ),
    (
        "Celery tasks must take ids, not model objects",
        "A pickled Order is stale when tasks/invoice.py runs.",
        "Celery tasks must be enqueued in on_commit",
        "tasks/invoice.py ran before the transaction had committed and did not find the order.",
    ),
    (
        "pytest-xdist needs a database for each worker",
        "tests/conftest.py puts PYTEST_XDIST_WORKER into the name.",
        "pytest-xdist hides output of print in workers",
        "Use the terminal reporter or -n0 to see what tests/conftest.py prints.",
    ),
    (
        "Migrations must not rename columns in one release",
        "Old pods write to the old column during the rollout.",
        "Migrations must create indexes concurrently",
        "CREATE INDEX locks writes on orders for minutes; use CONCURRENTLY with atomic = False.",
    ),
    (
        "npm ci refuses a lockfile of another npm major",
        "Use the version of .nvmrc.",
        "npm ci deletes node_modules, so the Cypress cache must live elsewhere",
        "CYPRESS_CACHE_FOLDER points outside node_modules in CI.",
    ),
    (
        "Docker images are built for amd64 only",
        "The arm64 runners emulate; builds take 20 minutes.",
        "Docker images must not run as root",
        "The cluster policy refuses pods without runAsNonRoot; the Dockerfile sets USER 10001.",
    ),
    (
        "S3 presigned uploads fail with a wrong Content-Type header",
        "The signature covers the header.",
        "S3 presigned URLs expire after 15 minutes",
        "Mobile clients on slow links fail late; sign with expires_in=3600 for uploads over 100 MB.",
    ),
    (
        "Terraform state is locked in DynamoDB",
        "A cancelled CI job leaves the lock; terraform force-unlock with the id in the message.",
        "Terraform modules are pinned by tag",
        "ref=v1.4.0 in every source; branches moved under us twice.",
    ),
    (
        "The payments API wants amounts in cents",
        "PaymentClient.charge takes integers.",
        "The refunds API wants amounts in euros",
        "RefundClient.refund takes decimal strings such as 10.00.",
    ),
    (
        "GET /v1/users is paginated with cursors",
        "Pass next as it is; it expires after an hour.",
        "GET /v1/users omits deleted users",
        "include_deleted=true is needed for the audit export.",
    ),
    (
        "Retry on 429 must honour Retry-After for the Shopify API",
        "clients/shopify.py slept 1 s and was banned for an hour.",
        "Retry on 502 must be limited to GET for the Shopify API",
        "clients/shopify.py retried a POST after 502 and created orders twice.",
    ),
    (
        "TypeScript path aliases need an entry in vite.config.ts too",
        "tsconfig paths are not read by Vite; the build fails and the editor does not.",
        "TypeScript path aliases need an entry in jest.config.js too",
        "moduleNameMapper must repeat tsconfig paths; jest fails with Cannot find module.",
    ),
    (
        "The iOS build needs Xcode 15.4",
        "Later versions fail in the Hermes pod; the version is pinned in .xcode-version.",
        "The Android build needs JDK 17",
        "Gradle 8 fails with JDK 21 in our flavour plugin; .java-version pins it.",
    ),
    (
        "Kafka consumers must commit after processing",
        "auto.commit lost messages of the invoices topic at deploys.",
        "Kafka consumers must handle duplicate messages",
        "After a rebalance messages of the invoices topic come twice; upsert by message key.",
    ),
    (
        "The cache key of prices must contain the currency",
        "Customers in CHF saw EUR prices from cache/prices.py.",
        "The cache key of prices must contain the customer group",
        "Wholesale prices leaked to guests from cache/prices.py.",
    ),
    (
        "logrotate must use copytruncate for the legacy daemon",
        "It keeps the file open; /var/log/legacyd.log grew invisibly.",
        "The legacy daemon must be stopped with SIGINT",
        "SIGTERM skips the flush and the spool is lost.",
    ),
    (
        "Nightly backups exclude the uploads bucket",
        "Only the database is dumped; uploads rely on bucket versioning.",
        "Nightly backups fail when the disk is over 80 %",
        "pg_dump writes to /backup first; alerts come from the cron mail only.",
    ),
    (
        "Feature flags are cached for 60 seconds",
        "Tests must call flags.refresh().",
        "Feature flags must be removed within two releases",
        "A stale flag hid the new checkout in tests; owners are listed in flags/OWNERS.",
    ),
]


def candidate(summary, detail, **fields):
    return Candidate(category=Category.PITFALL, summary=summary, detail=detail, **fields)


def known(summary, detail, learning_id):
    return KnownSummary(
        summary=summary,
        normalised=normalised_summary(summary),
        detail=detail,
        learning_id=learning_id,
    )


def every():
    """All first halves of the pairs, as if all were stored: rare words must stay rare."""
    return [known(one[0], one[1], f"cl_{place}") for place, one in enumerate((*SAME, *OTHER))]


@pytest.mark.parametrize("place", range(len(SAME)))
@pytest.mark.parametrize("crowded", [False, True])
def test_the_same_lesson_in_other_words_is_refused(place, crowded):
    first, first_detail, second, detail = SAME[place]
    stored = every() if crowded else [known(first, first_detail, f"cl_{place}")]
    rejection = find_duplicate(candidate(second, detail), stored)
    assert rejection.existing_id == f"cl_{place}"
    assert first in rejection.reason
    assert f'"supersedes": ["cl_{place}"]' in rejection.reason


@pytest.mark.parametrize("place", range(len(SAME)))
def test_which_of_the_two_came_first_does_not_matter(place):
    first, first_detail, second, detail = SAME[place]
    assert find_duplicate(candidate(first, first_detail), [known(second, detail, "cl_x")])


@pytest.mark.parametrize("place", range(len(OTHER)))
@pytest.mark.parametrize("crowded", [False, True])
def test_another_lesson_on_the_same_matter_passes(place, crowded):
    first, first_detail, second, detail = OTHER[place]
    stored = every() if crowded else [known(first, first_detail, "cl_x")]
    assert find_duplicate(candidate(second, detail), stored) is None


def test_what_it_supersedes_it_may_say_again():
    first, first_detail, second, detail = SAME[0]
    stored = [known(first, first_detail, "cl_x")]
    assert find_duplicate(candidate(second, detail, supersedes=("cl_x",)), stored) is None


def test_within_a_submission_the_earlier_candidate_is_named():
    first, first_detail, second, detail = SAME[0]
    earlier = KnownSummary(
        summary=first, normalised=normalised_summary(first), detail=first_detail, position=2
    )
    rejection = find_duplicate(candidate(second, detail), [earlier])
    assert rejection.existing_id is None
    assert "candidate 3 of this submission" in rejection.reason


def test_scripts_without_blanks_are_compared_as_well():
    stored = [
        known(
            "毎晩のバッチは協定世界時で動く", "deploy/nightly.yaml に時間帯の指定がない。", "cl_x"
        )
    ]
    same = candidate(
        "毎晩のバッチは協定世界時で動きます", "時間帯の指定が deploy/nightly.yaml にない。"
    )
    other = candidate(
        "在庫の同期は手動で始める", "管理画面の同期ボタンを押すまで数は古いままである。"
    )
    assert find_duplicate(same, stored)
    assert find_duplicate(other, stored) is None


# --- echo ---------------------------------------------------------------------------------------

SUMMARY, DETAIL = SAME[0][0], SAME[0][1]
SHOWN = [
    ShownText(text=f"{SUMMARY}\n{DETAIL}", learning_id="cl_s", summary=SUMMARY),
    ShownText(text=f"{OTHER[3][0]}\n{OTHER[3][1]}", learning_id="cl_t", summary=OTHER[3][0]),
]


def test_text_that_was_shown_is_no_lesson():
    for one in (
        candidate(SUMMARY, DETAIL),
        candidate("Create the pool in post_fork", DETAIL),
        candidate("Forked workers leak Redis connections", "The pool was created at import."),
    ):
        rejection = find_echo(one, SHOWN)
        assert rejection.existing_id == "cl_s"
        assert '"learnings_used"' in rejection.reason
        assert SUMMARY in rejection.reason


def test_words_of_two_that_were_shown_may_make_a_new_one():
    one = candidate("Redis connections leak when workers fork", OTHER[3][1])
    assert find_echo(one, SHOWN) is None


def test_an_echo_that_adds_something_new_passes():
    one = candidate(
        SUMMARY,
        f"{DETAIL} With preload_app the hook runs too late: use on_starting, as uvicorn 0.30 does.",
    )
    assert find_echo(one, SHOWN) is None


def test_what_was_shown_may_be_corrected():
    assert find_echo(candidate(SUMMARY, DETAIL, supersedes=("cl_s",)), SHOWN) is None
    assert find_echo(candidate(SUMMARY, DETAIL), []) is None
