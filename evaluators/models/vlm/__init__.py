"""Vision-language models as judges: shared prefixes, menus, chat."""
