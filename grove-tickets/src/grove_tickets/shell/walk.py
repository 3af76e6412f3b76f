"""Walks the syntax trees of shell text and collects the commands that would run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_tickets.shell.model import Command, Given, Scope, printed
from grove_tickets.shell.syntax import (
    assigned_names,
    expanding_body,
    parts_of_list,
    read_script,
    text_of,
)
from grove_tickets.shell.words import (
    HEREDOC_QUOTE,
    UNKNOWN,
    add_words,
    arguments_of,
    heredoc_text,
    is_known,
    split_lines,
    value_of,
)
from grove_tickets.shell.wrappers import Inner, program_of, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_BYTES: Final = 65536
MAX_DEPTH: Final = 100
_MAX_STEPS: Final = 100_000
_MAX_VALUE: Final = 4096
_NOT_RUN: Final = frozenset({"comment", "function_definition"})
_SUBSHELLS: Final = frozenset({"subshell", "command_substitution", "process_substitution"})
_LOOPS_AND_BRANCHES: Final = frozenset(
    {
        "if_statement",
        "for_statement",
        "c_style_for_statement",
        "while_statement",
        "case_statement",
    }
)
_CHANGES_DIRECTORY: Final = frozenset({"cd", "pushd", "popd"})
_SETS_VARIABLES: Final = frozenset({"read", "mapfile", "readarray", "printf", "getopts", "let"})


class TooMuchError(Exception):
    """The text is too large or too deep to be read in a hook."""


class Budget:
    """What may be spent on one text; shared by all scripts within it."""

    def __init__(self) -> None:
        self._steps = _MAX_STEPS

    def spend(self, steps: int, depth: int) -> None:
        """Count steps at a depth.

        Args:
            steps: How many.
            depth: How deep the syntax and the wrappers are nested here.

        Raises:
            TooMuchError: The steps are used up, or it is too deep.
        """
        self._steps -= steps
        if self._steps < 0 or depth > MAX_DEPTH:
            raise TooMuchError


class Walk:
    """Walks the syntax tree of one shell text."""

    def __init__(self, text: str, found: list[Command], budget: Budget, depth: int) -> None:
        source = text.replace("\0", "").encode("utf-8", "replace")
        budget.spend(1 + len(source) // 16, depth)
        if len(source) > MAX_BYTES:
            raise TooMuchError
        self._found = found
        self._budget = budget
        self._depth = depth
        self._script = read_script(source)

    def run(self, scope: Scope, stdin: str | None) -> None:
        """Collect the commands of the text.

        Args:
            scope: What is known where it starts; changed as the text would.
            stdin: Its standard input, if known.

        Raises:
            TooMuchError: It is too large or too deep.
        """
        self._visit(self._script.root, scope, Given(stdin), self._depth)

    def _nested(self, text: str, scope: Scope, depth: int) -> None:
        Walk(text, self._found, self._budget, depth).run(scope, None)

    def _visit(self, node: "Node", scope: Scope, given: Given, depth: int) -> str | None:
        """Collect the commands below a node; give its output where the text tells it."""
        self._budget.spend(1, depth)
        kind = node.type
        output = None
        if kind in _SUBSHELLS:
            scope = scope.copy()
        match kind:
            case "command":
                output = self._command(node, scope, given, depth)
            case "redirected_statement":
                output = self._redirected(node, scope, given, depth)
            case "pipeline":
                output = self._pipeline(node, scope, given, depth)
            case "list":
                self._list(node, scope, given, depth)
            case "variable_assignment":
                self._assign(node, scope, depth)
            case "unset_command":
                scope.forget(text_of(child) for child in node.named_children)
            case _ if kind in _LOOPS_AND_BRANCHES:
                self._branches(node, scope, depth)
            case _ if kind not in _NOT_RUN:
                output = self._children(node, scope, given, depth)
        return output

    def _children(self, node: "Node", scope: Scope, given: Given, depth: int) -> str | None:
        output = None
        for child in node.named_children:
            output = self._visit(child, scope, given, depth + 1)
        return output if node.named_child_count == 1 else None

    def _list(self, node: "Node", scope: Scope, given: Given, depth: int) -> None:
        parts = parts_of_list(node)
        for part in parts[:-1]:
            self._visit(part, scope, Given(given.stdin), depth + 1)
        self._visit(parts[-1], scope, given, depth + 1)

    def _pipeline(self, node: "Node", scope: Scope, given: Given, depth: int) -> str | None:
        output = None
        for child in node.named_children[:-1]:
            output = self._visit(child, scope.copy(), Given(output), depth + 1)
        last = evolve(given, stdin=output) if given.stdin is None else given
        return self._visit(node.named_children[-1], scope.copy(), last, depth + 1)

    def _branches(self, node: "Node", scope: Scope, depth: int) -> None:
        """Read a body that may run any number of times: what it changes is unknown around it."""
        names = assigned_names(node)
        scope.forget(names)
        inner = scope.copy()
        self._children(node, inner, Given(), depth)
        if inner.directory != scope.directory:
            scope.directory = UNKNOWN

    def _assign(self, node: "Node", scope: Scope, depth: int) -> None:
        name, value = self._assignment(node, scope, depth)
        scope.forget([name])
        if is_known(value):
            scope.variables[name] = value

    def _assignment(self, node: "Node", scope: Scope, depth: int) -> tuple[str, str]:
        name = text_of(node.child_by_field_name("name"))
        value = node.child_by_field_name("value")
        if value is None:
            return name, ""
        self._visit(value, scope, Given(), depth + 1)
        text = value_of(value, scope.variables)
        appends = any(child.type == "+=" for child in node.children)
        return name, UNKNOWN if appends or len(text) > _MAX_VALUE else text

    def _redirected(self, node: "Node", scope: Scope, given: Given, depth: int) -> str | None:
        body, *redirections = node.named_children
        prints = True
        for child in redirections:
            given = self._redirection(child, scope, given, depth)
            prints = prints and not _takes_output(child)
        output = self._visit(body, scope, given, depth + 1)
        return output if prints else None

    def _redirection(self, node: "Node", scope: Scope, given: Given, depth: int) -> Given:
        """Read one redirection; words behind its target belong to the command."""
        self._children(node, scope, Given(), depth)
        descriptor, target, words = None, None, list(given.words)
        for child in node.named_children:
            if child.type == "file_descriptor":
                descriptor = text_of(child)
            elif target is None:
                target = child
            else:
                words += arguments_of(child, scope.variables)
        operator = next((child.type for child in node.children if not child.is_named), "")
        stdin = given.stdin
        if target is not None and operator in {"<", "<<<"} and descriptor in {None, "0"}:
            stdin = self._stdin(operator, target, scope, depth)
        return Given(stdin, tuple(words))

    def _stdin(self, operator: str, target: "Node", scope: Scope, depth: int) -> str | None:
        if operator == "<<<":
            return value_of(target, scope.variables) + "\n"
        heredoc = self._script.heredocs.get(text_of(target))
        if heredoc is None or heredoc.literal:
            return None if heredoc is None else heredoc.body
        body = expanding_body(heredoc.body)
        if body is None:
            return UNKNOWN
        for child in body.named_children:
            if child.type == "command_substitution" and self._script.runs(target):
                inner = text_of(child).replace(HEREDOC_QUOTE, '"')
                inner = inner.removeprefix("$(").removesuffix(")").strip("`")
                self._nested(inner, scope.copy(), depth + 1)
        return heredoc_text(body, scope.variables)

    def _command(self, node: "Node", scope: Scope, given: Given, depth: int) -> str | None:
        environment: dict[str, str] = {}
        words: list[str] = []
        end = -1
        for child in node.children:
            if child.type == "variable_assignment":
                name, value = self._assignment(child, scope, depth)
                environment[name] = value
            elif child.type in {"file_redirect", "herestring_redirect"}:
                given = self._redirection(child, scope, given, depth)
            else:
                self._visit(child, scope, Given(), depth + 1)
                found = arguments_of(child, scope.variables)
                add_words(words, found, adjacent=child.start_byte == end)
            begins_word = child.type == "$" and child.start_byte != end
            end = -1 if begins_word else child.end_byte
        if not self._script.runs(node):
            return None
        known = {name: value for name, value in environment.items() if is_known(value)}
        first, *others = split_lines([*words, *given.words])
        output = self._run(first, known, scope, given.stdin, depth)
        for line in others:
            output = self._run(line, {}, scope, None, depth)
        return output

    def _run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        scope: Scope,
        stdin: str | None,
        depth: int,
    ) -> str | None:
        """Note a command, or follow it when it runs another one."""
        self._budget.spend(1, depth)
        if not words:
            return None
        name = program_of(words[0])
        if name in _CHANGES_DIRECTORY:
            scope.change_directory(words)
            return None
        if name in _SETS_VARIABLES:
            scope.forget(words[1:])
        elif name in {"source", "."}:
            scope.variables.clear()
        inner_commands = unwrap(words)
        if inner_commands is None:
            variables = {**scope.variables, **environment}
            self._found.append(
                Command(words=words, environment=variables, directory=scope.directory, stdin=stdin)
            )
            return printed(words, stdin)
        for inner in inner_commands:
            self._follow(inner, environment, scope, stdin, depth + 1)
        return None

    def _follow(
        self,
        inner: Inner,
        environment: Mapping[str, str],
        scope: Scope,
        stdin: str | None,
        depth: int,
    ) -> None:
        environment = {**environment, **inner.environment}
        if inner.directory:
            scope = scope.copy()
            scope.enter(inner.directory)
        if inner.words:
            self._run(inner.words, environment, scope, stdin, depth)
            return
        script = stdin if inner.reads_script else inner.script
        if script is not None:
            target = scope if inner.same_shell else scope.copy()
            target.variables.update(environment)
            self._nested(script, target, depth)


def _takes_output(redirection: "Node") -> bool:
    kinds = {child.type for child in redirection.children}
    to_error = any(
        child.type == "file_descriptor" and text_of(child) != "1" for child in redirection.children
    )
    return not kinds.isdisjoint({">", ">>", ">|", "&>", "&>>", ">&"}) and not to_error
