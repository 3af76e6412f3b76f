"""A plugin for pytest: the first example that fails is enough, and is not made any smaller."""

from hypothesis import Phase, settings

settings.register_profile("no shrinking", phases=[Phase.explicit, Phase.generate])
settings.load_profile("no shrinking")
