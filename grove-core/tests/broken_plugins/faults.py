"""Making a plugin with a fault of a sound one."""


def but(base, /, **methods):
    """Make a class in which some methods are others.

    Args:
        base: The sound one.
        methods: What takes the place of each method. It is given the object, the sound method (or
            `None`) and what that is called with.
    """
    broken = type("Broken", (base,), {})

    def replaced(name, method):
        def call(self, *arguments, **named):
            sound = getattr(super(broken, self), name, None)
            return method(self, sound, *arguments, **named)

        return call

    for name, method in methods.items():
        setattr(broken, name, replaced(name, method))
    return broken
