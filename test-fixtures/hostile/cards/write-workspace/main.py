from attack import *

for name in (
    ".git/hooks/pre-commit",
    "vendor/sub/.git/hooks/pre-commit",
    "a/b/c/d/e/.git/hooks/post-checkout",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".claude/settings.local.json",
    "AGENTS.md",
    "cards/new/_card.json",
    "package.json",
    "../home/.bashrc",
):
    path = os.path.join(lures["project"], name)
    try:
        # In a temporary folder of its own a sealed card may make what it likes: only the real project counts.
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("planted")
    except OSError as error:
        print(name, error)
