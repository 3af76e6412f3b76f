"""The parts that shell text is read into."""

from attrs import define, frozen


@frozen
class Text:
    """Plain text; where it is not quoted, it may hold braces and patterns of file names."""

    text: str


@frozen
class Quoted:
    """Parts that are not split into words."""

    parts: "Word"


@frozen
class Parameter:
    """A variable or positional parameter, with what ``:-`` puts in the place of an empty one."""

    name: str
    default: "Word | None" = None


@frozen
class Output:
    """The output of a script."""

    script: "Script"


@frozen
class Opaque:
    """What is expanded, but not worked out, such as a test; and the variables it may assign."""

    parts: "Word"
    names: tuple[str, ...] = ()


Part = Text | Quoted | Parameter | Output | Opaque
Word = tuple[Part, ...]


@define
class Redirection:
    """A redirection; the target of a here-document is its body, which is read later."""

    operator: str
    descriptor: str
    target: Word


@frozen(eq=False)
class Simple:
    """A simple command, the assignments before it among its words."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]


@frozen(eq=False)
class Group:
    """Commands in braces or behind ``!``, or in a shell of their own."""

    script: "Script"
    redirections: tuple[Redirection, ...] = ()
    is_subshell: bool = False
    is_negated: bool = False


@frozen(eq=False)
class Pipeline:
    """Commands that read what the one before prints."""

    stages: "Script"


@frozen(eq=False)
class Chain:
    """Commands that run as long as each one before succeeds (``&&``), or fails (``||``)."""

    first: "Node"
    on_success: bool
    rest: "Script"


@frozen(eq=False)
class Branches:
    """Commands, and the ways of which one is taken: the first if they succeed, else another."""

    first: "Script"
    ways: "tuple[Script, ...]"


@frozen(eq=False)
class Loop:
    """A loop over words; a single one that is unknown where there are none."""

    body: "Script"
    name: str
    words: tuple[Word, ...]


@frozen(eq=False)
class Function:
    """The definition of a function."""

    name: str
    body: "Node"


Node = Simple | Opaque | Group | Pipeline | Chain | Branches | Loop | Function
Script = tuple[Node, ...]
