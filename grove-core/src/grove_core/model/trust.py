"""What a project asks its users to agree to."""

from grove_core.model.value import Value, frozen


@frozen(kw_only=True, eq=False, repr=False)
class TrustRequest(Value):
    """Something that a project's files would have run, reached or read outside the project.

    A project's files may be a stranger's, so nothing of it happens until the user has agreed to
    exactly this with ``grove trust``.

    Attributes:
        subject: What it is, such as ``MCP server memory``.
        source: The file that asks for it, relative to the project's root.
        content: What would be run or reached, in full: people read it before they agree, and
            whatever is different later has to be agreed to again.
    """

    subject: str
    source: str
    content: str

    @property
    def digest(self) -> str:
        """What an agreement is kept under: SHA-256 of the three, in hexadecimal."""
        import hashlib  # it loads OpenSSL, and few hooks ask for a digest

        # The lengths keep the three apart, whatever is in them.
        parts = (self.subject, self.source, self.content)
        text = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
