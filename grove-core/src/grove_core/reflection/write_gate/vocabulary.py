"""The words against which a candidate's own are measured."""

from functools import lru_cache
from typing import Final

FUNCTION_WORDS: Final = frozenset(
    """
    a about above after again against all also although am among an and another any are aren't
    as at be because been before being below between both but by can can't cannot could couldn't
    did didn't do does doesn't doing don't down during each either else ever every everyone
    everything few first for from further get gets getting go goes going got had has hasn't have
    haven't having he hence her here hers him his how however i i'm i've if in instead into is
    isn't it it's its itself just last less let let's like many may me might more most much must
    my myself need needs neither never no nobody none nor not nothing now of off often on once
    one only onto or other others otherwise our ours out over own per rather same she should
    shouldn't since so some somebody someone something sometimes soon still such than that
    that's the their theirs them themselves then there there's therefore these they they're this
    those though through thus to too toward towards under unless until up upon us use used uses
    using very via was wasn't we we're we've well were weren't what whatever when whenever where
    whereas whether which while who whole whom whose why will with within without won't would
    wouldn't yes yet you you're your yours
    """.split()
)

_GENERIC: Final = """
    abi ability able abort abs absolute abstract accent accept acceptable acceptance access
    accessibility accessible accidentally accompanying accomplish according accordingly account
    accurate achieve achievement acid acknowledge acknowledgement acm acquire across action
    activate active actually acute adapted add addition additional address adequate adjacency
    adjacent adjust adr advanced advantage adventure advice affect afternoon afterthought
    afterwards age agent aggregate agile agreement ahead alert algebraic algorithm alias aliases
    align alive allocated allocation allow almost alone along alpha already alt alternate
    alternative alternatively always amazing ambiguity ambiguous amend amortized amount
    ampersand analyse analysis analyze ancestor anchor angle annotated annotations announcement
    anonymise anonymize anonymous ansi answer antlr anymore anything anyway anywhere apart api
    apostrophe appear append applicable application applied apply applying approach appropriate
    appropriately approval approved approximate approximation arbitrarily arbitrary
    architectural architecture archive area argon args argument argv arising arithmetic arn
    around arrange array arrays arrow ascii ask assert assignment associated association assume
    assumption assurance asterisk asymmetric async asynchronous atomic attached attack attempt
    attention attribute attributeerror audience authenticate authentication author authorise
    authorization authors auto automatic automatically automation autoscaling auxiliary
    availability available average avoid await aware awareness away awesome axis back backend
    background backlog backoff backport backpressure backslash backspace backtracking backup
    backward bad badge balanced bandwidth bare barrier based basename bash basic basically basis
    batch bcrypt bearer beat become beginning behaves behavior behaviour behind believe bell
    belongs benchmark beneficial benefit best beta better beyond bias big bigint bin binary
    binding bisect bit bitmap bitwise black blame blameless blank blob block blog bloom blue
    body bogus bold bom bonus bool boolean boost bootstrap border borrow bother boto botocore
    bottleneck bottom bound boundary box bpo bracket branch breadth break breakage brilliant
    brittle broke broken browser brute btree bubbling bucket buffer buffered bug bugfix build
    built builtin bullet bump bunch bundle burden business button bypass bytecode bytes cache
    calculate calculation call callable callback came camel canary cancel candidate canonical
    cap capacity capital capture cardinality care careful carriage cascade case cast cat catch
    category caught cause caution cell center cert certain certificate cfg cgi chain challenging
    chance change changelog channel char characters charset cheaper check checkbox checkout
    checksum cheers cherry child children chinese choice choose chosen chunk cipher circuit
    circular circumflex circumstances cjs claim clarify clarity class classifier classmethod
    clause clean cleanup clear cli click client clock clone close closure cloud cloudformation
    cluster clustered cmd code codebase codec codepath coercion cohesion collaborate
    collaboration collapse colleague collection collision colon color colors colour column
    combination comma command comment commented commercial commit common communicate
    communication community commutative compact compare comparison compat compatibility
    compatible competitive competitor compile complain complete completely complex compliant
    complicated components composable compose composite comprehension compressed compute
    concatenate concatenation concern concrete concurrency concurrent conditional conditions
    confidence confident confidential config configmap configurable configuration confirm
    conflict conform confused congestion congratulations connection connectionless conscious
    consciously consecutive consensus consent consequence consider considered consistency
    consistent consists console const constant constraints constructor constructors consume
    contact contains content context continue contract contrast contravariance contrib
    contributor contributors control convenience convenient convention converge conversion
    convert cookie cookies coordinates copy copyleft core corner coroutine correct correlation
    corresponding corrupt cost count couple course covariance coverage covered covers coworker
    cpu crash create creation credentials critical crlf cron crontab cross crucial crypto csr
    csrf css ctrl ctx culprit culture curl curly currency current currying cursor custom
    customize cut cwd cycle cygwin daemon damages danger dangerous dangling dark dash dashboard
    data database dataclass datagram dataset date datetime day daylight deactivate dead deadline
    deadlock deal deallocate debounce debt debug dec decide decimal decision declaration
    declarative decode decorator decorators decouple decrease decrypt dedicated deep def default
    defect deferred defined definitely definition degrade degree del delay delegation delete
    deliberate deliberately delighted delimiter delta demand demo denominator denormalization
    dense dependencies dependent depending deploy deployment deprecated deprecation deps depth
    dereference derivative derived described description descriptive descriptors deserialize
    designed desired dest destination destroy destroyed detached details detect determine
    deterministic dev development device diaeresis diagnostic diagonal dictionary die diff
    difference different difficult digest digit diligence dimension dimensional directives
    directly directory dirs disable disallow disaster discard discipline discouraged discovered
    discrete discussion disk dispatch display displayed distance distinct distinguish
    distributed diverge divide division dns docker docs docstring doctest document documentation
    docutils doi doit dollar dom domain done dot double download downstream downtime downwards
    draft dramatically draw drawn dream drift drill drive driven drop dropdown dry dual duck due
    dug dump dunder duplicate duplication durability duration dynamic dynamically eager earlier
    early easier east easy eavesdrop echo edge editor edu effect effective effectively
    efficiency efficient effort eight elasticity elegant element eliminate ellipsis elsewhere
    emacs email embedded emergency emit emoji empty enable encapsulation encoding encounter
    encountered encourage encryption end endian endpoint energy enforce engine engineer english
    enhance enhancement enjoy enjoyable enough enquiry ensure enter entered enterprise entire
    entirely entry enum environment eof epoch equal equation equivalent errno error errors
    escape eslint especially essentially established estimate estimation etc european eval
    evaluate evaluation even event eventually everybody everywhere evict evidence evil evolve
    exactly example exc exceed exceeds excellence excellent except exclamation exclude exclusive
    exe exec executable execution exercise exhausted existence exists exit expand expansion
    expected expensive experience experiment experimental expert expertise expiry explain
    explanation explanatory explicitly exploit explored exponent exponential export expose expr
    expression expressive ext extended extension external extra extract extremely eye facade
    facilitate fact factory fail failover failure fairly fake fall fallback false family
    fantastic far fast fat fault favor features fed feed feedback feel fence fetch fewer fiber
    field fifo figure file filename filesystem filter filtering final finalize find fine
    finished finite firewall firmware fit five fixes fixture fixup flag flaky flat flatten flaw
    flexbox flexibility flexible float floor flow flush fmt focus focused folder following
    followup font footer force foreign forget forgot fork form format formula forward found four
    frac fragile fragment frame framework free freebsd freelance frequently fresh friday
    friendly front frontend frozen frozenset frustrating fsck full fun func function
    functionality functools future fuzzing gamma garbage gateway gave gcc gcd gdpr gen gencodec
    general generalized generated generation generational generators generic gently gesture
    getattr getitem getter git github gitignore gitlab gitweb give given glob global gmail goal
    gone good google goroutine grab gracefully gradient granted grave greater greedy green
    greenlet grep grid group grow grown growth guaranteed guard guess guest gui guide guideline
    habit hack half hallucination halves hand handful handle handshake happen happy hard
    hardcode harm harmful hash hashable hashcode hassle headache header health heap heavy height
    held hello helper helpful hereby heuristic hex hidden hide hierarchy higher highest
    highlight hint historical history hit hoisting holds home homepage honor hook hope hopefully
    horizontal host hostname hotfix hour howto href html huge human hunted hydrate hydration
    hyperparameter hypertext hypervisor hyphen hypothesis hypothesisworks icon idea ideally
    idempotency idempotent identical identifier identify identifying idle ids ietf iff ignore
    image imaginary img immediate immediately immutability immutable impact imperative implement
    implementation implicit implied import importance important importlib impossible improve
    improvements inc incident include inclusion inclusive incoming incompatible incomplete
    inconsistent incorrect increase increment incremental indent independent index indicates
    indices indirect individual industry infer inference inferred infinite infinity influence
    info information infrastructure ingress inherit inheritance init initial initialize inject
    inline inner input insecure insensitive insert inside insight insightful inspect inspired
    install instance instantiated instantiation instructions integer integrate integration
    intended intent intentionally interaction interactive intercept interesting interface
    intermediate internal internationalization internet interpreted interrupt intersection
    interval introduced introduction introspection ints intuitive invalid invalidate invariant
    inventory inverse inverted invest investigated investigation invocation invoked involved ipv
    irrelevant iso isolated isolation issues items iterable iteration iterative iterator jan
    javascript jitter job join journey json jump junior kanban kebab keep kept kernel key
    keyboard keyerror keypair keyword kill kilobytes kind kiss know knowledge known kubernetes
    kudos kwarg label lack lambda lang language large largest latency later latest latex latin
    law layer layered layout lazily lazy leading leaf leak learned least leave left leftover
    legacy legal length lesser lesson letter level leverage lex lexical liable lib libcst
    library licenses life lifecycle lifetime lifo light lightweight likely limitations line
    linear lineno link lint linux list listen literal little live livelock liveness load local
    localhost localization localstorage located location lock log logarithmic logic logical
    login logo long longest look lookahead lookup loop loose loosely loss lost lot love lower
    lowercase lowest loyalty lru luckily mac machine machinery macos macro macrotask made magic
    magnitude mail main mainstream maint maintain maintainability maintainable maintenance major
    make makefile malformed malicious malloc man management manager mandatory manipulate
    manipulation mantissa manually mapping margin mark markdown markup marshal mask master match
    math mathematical mathematics mathworld matter mature max maximal maximum maybe meaningful
    means meant meanwhile measure mechanism medium meeting member membership memo memoization
    memory mention mentioned mentoring merge mess message met meta metaclass metadata meth
    method methodology metric micro microcontroller microservice microsoft microtask middle
    middleware migration milde milestone milliseconds mime mimic mind mindful mindset minify
    minimal minimize minimum minor minus minutes miscellaneous mismatch missing mistake
    misunderstanding mixed mixin mjs mobile mock mode model modern modifications modified
    modifying modular module modulo moment monad monday money monitoring monolith monolithic
    month morning mostly moto mount move mpl mpmath mro multi multigraph multiline multipart
    multiple multiplication multiply multiprocessing multithreading mutability mutable mutate
    mutation mutex mypyc mysterious naive name namedtuple nameserver namespace native natural
    navbar navigate navigation near nearest neat necessarily necessary needed negative neighbors
    nested net network networkxerror neural new newcomer newline next nice nil nine node nodejs
    non nonblocking nondeterministic nonfunctional nonlocal nonnegative nonzero normal normalize
    nosql notably note notice noticeable noticeably notify notimplementederror nth null nullable
    number numbered numerator numeric numerical oauth object observability observer obsolete
    obtain obvious obviously occasionally occur occurrence odd office official offset okay old
    omitted oncall ones ongoing oop opaque open openid openssl operand operation operator
    operators opposed opposite ops optimal optimization optional options orchestrate
    orchestration order ordering ordinary oriented origin original orm orphan oserror osi osx
    ourselves outage outcome outdated outer outgoing output outside overall overfit overflow
    overhead overlap overload overridden override overview overwrite overwritten owner ownership
    pack package packet padding page pagination painful painless pair paper paradigm paragraph
    parallel parallelism parameterized parameters parent parentheses parenthesis parse part
    partial particular partition pascal passed password past patch path pathlib pathname
    pathspec patience pattern pause pay payload payoff pdf peculiarities pending people peps
    percent perf perfect perform performance perhaps perimeter period periodically perl
    permissions permitted permutation persist persistence persistent person personal phase phi
    phishing phone physical physics pick pickle picture pieces pip pipeline place placeholder
    plain plaintext plan platform please pleasure plenty plugin plus pod point policy polish
    poly polyfill polymorphism polys pool pop popular populated port pos position positional
    positive possibility possible possibly post postmortem potentially power powerful pprint
    practice pragma pragmatic pre preceding precision predicate preemption prefer preference
    preferred prefetch prefix preflight preload premature prepare prepend prerelease presence
    present preserve press prettier pretty prevent previous previously primarily primary prime
    primitive principle print prior prioritize priority privacy private privilege probabilistic
    probability probably probe problem procedural procedure proceed process produce product
    productivity profile program progress project promise prompt propagate propagation proper
    properly property protect protobuf protocol prototype proud prove proven provided proxy
    prune pseudo pseudonymize psf public published pubsub pull punctuation pure purely purpose
    push put pydantic pylint pypa pyramid pytest python quadratic qualified quality query
    question queue quick quiet quirks quite quorum quotes race raise ran random range rank rare
    rarely rate ratio rational raw reachable reached read readability readable readiness
    readline readme real realistic realized reason reasonable reassign rebase rebuild rebuilt
    receive recent reclaim recognized recommended recompute reconciliation record recover
    recovery recursion recursive recursively red redirect reduce reduction redundancy redundant
    ref refactor refactoring references referential referred refinement reflect reflog refresh
    regarding regardless regenerate regex regexp region register registered registry regular
    rehearse reinstall reinvent reject related relational relative relatively release relevant
    reliability reliable relief rely relying remainder remaining remember reminder remote
    removal remove rename render rendering repeated repl replace replacement replica replication
    repo report repository representation representative reproduce reproduction req request
    required requirements res reserved reset resilience resilient resolution resolve resource
    respect respective respectively response responsibility responsible responsive rest restart
    restore restriction result resume retain retention retrieve retrospective retry return
    reusable reuse rev reveal revenue reverse revert review revision reward rewrite rewritten
    rfc rhs rich rid right rigorous ring risk roadmap robust role rollback rollout room root
    roughly round route routine row rsa rules run runbook runtime runtimeerror safe safeguard
    safely safety said salt sam samesite sample sanitize sanity satisfaction satisfy saturday
    save say scalability scalable scalars scale scan scenario scheduled schema scheme scope
    screen screenreader script scrum search sec second secret section securely security see seed
    seek seems seen segment segmentation seldom select self semantics semaphore semi semicolon
    semver send senior sense sensible sensitive sent sentinel sep separate separately separation
    separators seq sequence serialized series server service session sessionstorage set setup
    setuptools seven several sha shaking shall shallow shape sharding shared sharp shell shields
    shift ship short shortcut shortest shorthand show shown shutdown side sidebar sidecar sig
    sigint sigkill sign signal signature significant sigterm silently similar simple simplest
    simplicity simplification simplify simply single singleton site situations six size skill
    skinny skip slash sleep slice slightly slots slow slowdown sluggish small smallest smart
    smell smoke smooth snake snapshot snippet socket soft software solid solidus solution solve
    somehow somewhat somewhere sort source sourceforge space spaghetti span sparse spawn spdx
    spec special specialized specific specifically specified specifier specifying speed spelling
    spend spent sphinx spinlock split spoof spread sprint spy sql square squash ssh ssl sso ssr
    stability stable stack stage stakeholder stale standalone standard standup star start
    startup starvation stash state stateful stateless statement static statistically statistics
    status stay std stderr stdin stdlib stdout step sticky stop storage store straight
    straightforward strange strategy stream strict string strip strong struct structural
    structure struggle stub stuff style stylesheet sub subclass subcommand subdirectory subject
    submit submodule subnet subprocess subscribe subscription subsequent subset substantial
    substitute subtask subtle subtract subtree subtype succeed succeeds success successfully
    sufficient suffix suggest suitable suite sum summary sunday super superclass superscript
    superuser supplied support supposed suppress sure surprise surrounding suspect svg svn swap
    switch symbol symlinks symmetric sync synchronise synchronize synchronous syntax sys syscall
    system tab table tabulation tag tail take takeaway taken talk tamper tar target task taught
    tcp tdd team teammate teamwork teardown technically technique telemetry tell temp template
    temporarily temporary tend terminal terminate terms test testability testable text thanks
    theme theorem theory theta thin things think third thorough thought thousands thread threat
    three threshold throttle throughput throw thrown thursday tick ticket tightly tilde time
    timeout timestamp timezone tiny tip title tls tmp today todo together toggle token told
    tolerance tolerant tomorrow tonight took toolkit tools tooltip top topic total touch toy
    trace tracebacks track tradeoff traditional traffic trailing training trait transaction
    transfer transform transient transition translated translation transmission transpile
    transport traversal traverse travis treated tree trend tricky tries trigger triggered trim
    trio triple trivial true truncated trust trustworthy truthiness truthy try ttl tty tuesday
    tuning tuple turn tutorial tweak twice two type typeddict typevar typically typo udp ugly
    ultimately unable unavailable unblock unbounded unbroken unchanged unclear uncomment
    unconditionally undefined underfitting underflow underlying underscore understand understood
    undo undocumented unevaluated unexpected unfinished unfortunately unhandled unhelpful
    unicode uniform unify uninstall union unique unit universal unix unknown unlike unlikely
    unmanaged unmarshal unmodified unnecessarily unnecessary unpack unreachable unrelated unsafe
    unset unsigned unspecified unspoken unstaged unsupported untyped unused unwrap update
    upgrade upload upper uppercase ups upstream upwards uri url usability usable usage
    usecallback useful useless usememo user userguide username userspace usually utf utilities
    utilize vacuum val valid validate validators valuable value var variable variant various
    vectors velocity verb verbose verification verify verifying versa version versioning vertex
    vertical vertices vice view viewmodel viewport vigilance virtual virtualenv virtualization
    visible visit visual vital voice volatile volume vulnerability vulnerable wait walk want
    warning warranty watch watchdog waterfall way weak web websocket wednesday week weights
    weird welcome went wheel white whitespace wide widely widespread width wildcard windows
    wisdom wish wolfram wonderful word work workaround workflows worktree world worry worse
    worst worth worthwhile wraparound wrapper writable write written wrong wrote wrt xab xac xad
    xbf xcd xed xff xml xss yagni yaml year yesterday yield yourself zero zip zlib zombie zone
"""

COMMON_NAMES: Final = frozenset(
    """
    access admin ai ajax alpine android angular ansible api apis app asap ascii async aws azure
    bash beta bsd c c# c++ cd chrome ci cli cors cpu crud csrf css csv db debian dev django dns
    docker dom eslint express faq fifo firefox flask fs ftp gcp git github gitlab go golang
    google gpu graphql gui helm html http https id ide ids io ios ip java javascript jest jira
    jquery js json jwt k8s kafka kubernetes laravel linux lts mac macos markdown microsoft mr
    mvc mvp mysql next.js nginx node node.js nodejs npm oauth ok oop orm os pdf php pip poc
    postgres postgresql pr pr. prs python qa qr rails ram react redis redux rest rpc ruby rust
    saas sdk solid spring sql sqlite ssh ssl svg tdd tests tls todo ts tsx txt typescript ubuntu
    ui unix uri url urls usb utc utf-8 utf8 ux vm vscode vue webpack wip windows xml xss yaml
    yarn yml try/catch try/except async/await console.log print() useeffect usestate e.g i.e etc
    vs
    """.split()
)

_SUFFIXES: Final = (
    *("ations", "ation", "ments", "ment", "ities", "ity", "ings", "ing", "edly", "ies", "ied"),
    *("ers", "ness", "ions", "ion", "ed", "es", "er", "ly", "or", "s", "e", "y"),
)
_STEM_LENGTH_MIN: Final = 3


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Cut an English word down to what its forms share; crude, but the same for all of them."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM_LENGTH_MIN:
            word = word[: -len(suffix)]
            break
    if len(word) > _STEM_LENGTH_MIN and word[-1] == word[-2]:
        return word[:-1]
    return word


GENERIC_STEMS: Final = frozenset(stem(word) for word in _GENERIC.split())
