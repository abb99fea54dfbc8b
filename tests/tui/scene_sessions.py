"""What one agent of the scene did: its readings, its diff and its facts, from memory.

Every number is made up, and none of it says that it happened.
"""

from __future__ import annotations

from typing import Any

from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.diff import DiffFile, WorktreeDiff
from cockpit.wire.status import MarksStatus

BEGAN = 1_795_296_000.0
"""Unix seconds of the first reading: 21 November 2026, 21:20 UTC."""
WINDOW = 200_000
COMPACTS_AT = 167_000
MARKS = MarksStatus(notice=100_000, warn=120_000, act=140_000, force=147_000)


def readings(
    end: int, calls: int = 60, *, start: int = 24_000, began: float = BEGAN, compacted: int = 0
) -> list[CoursePoint]:
    """Growing from `start` to `end`, in steps that differ; `compacted` after so many calls."""
    points: list[CoursePoint] = []
    step = (end - start) / max(1, calls)
    tokens = float(start)
    for call in range(1, calls + 1):
        tokens += step * (0.4 + 1.2 * ((call * 7) % 11) / 10)
        at = began + call * 70
        points.append(CoursePoint(call, min(round(tokens), end), "reply", at))
        if call == compacted:
            points.append(CoursePoint(call, round(tokens), "compacted", at + 1))
            tokens = start * 1.4
            step = (end - tokens) / max(1, calls - call)
    points[-1] = points[-1]._replace(tokens=end)
    return points


def stretch(number: int, points: list[CoursePoint], **fields: Any) -> Stretch:
    """One session of a made-up chain."""
    usual = {
        "session": f"5b0c2a9e-6d3f-4f1a-9b1e-{number:012}",
        "number": number,
        "state": "handed_off",
        "window": WINDOW,
        "compacts_at": COMPACTS_AT,
        "marks": MARKS,
        "points": points,
    }
    return Stretch.model_validate({**usual, **fields})


def course(agent: str = "api") -> Course:
    """Two sessions: one that compacted, and one that fills."""
    return Course(
        agent=agent,
        stretches=[
            stretch(1, readings(142_000, 90, compacted=38)),
            stretch(2, readings(142_300, 64, start=45_000, began=BEGAN + 9_000), state="live"),
        ],
    )


DIFF = WorktreeDiff(
    directory="/srv/shop/.worktrees/api",
    since="9f1c2d3e4b5a69788796a5b4c3d2e1f001122334",
    files=[
        DiffFile(path="src/auth.py", added=5, removed=2),
        DiffFile(path="tests/auth/test_margin.py", added=3, removed=0),
        DiffFile(path="docs/flow.png"),
    ],
    untracked=["notes/"],
    text="""\
diff --git a/src/auth.py b/src/auth.py
index 7898192..6178079 100644
--- a/src/auth.py
+++ b/src/auth.py
@@ -38,8 +38,11 @@ class Auth:
     def refresh(self, token: Token) -> Token:
-        return self._renew(token)
+        if token.expires_in > self.margin:
+            return token
+        # Early enough that a slow clock on the other side does no harm.
+        return self._renew(token)
 
     def _renew(self, token: Token) -> Token:
-        return self.client.renew(token.refresh)
+        return self.client.renew(token.refresh, timeout=5)
 
     def revoke(self, token: Token) -> None:
         self.client.revoke(token)
diff --git a/tests/auth/test_margin.py b/tests/auth/test_margin.py
index 1111111..2222222 100644
--- a/tests/auth/test_margin.py
+++ b/tests/auth/test_margin.py
@@ -9,2 +9,5 @@ def test_inside_the_margin(auth: Auth) -> None:
     assert auth.refresh(token(expires_in=10)) != token(expires_in=10)
 
+def test_outside_the_margin(auth: Auth) -> None:
+    assert auth.refresh(token(expires_in=900)) == token(expires_in=900)
+
diff --git a/docs/flow.png b/docs/flow.png
index 3333333..4444444 100644
Binary files a/docs/flow.png and b/docs/flow.png differ
""",
)

FACTS: dict[str, Any] = {
    "goal": "Renew access tokens before they expire, and keep clients of version 1 working.",
    "todos": [
        {"content": "TokenMargin, with tests", "status": "completed"},
        {"content": "Auth.refresh renews only inside the margin", "status": "completed"},
        {"content": "Use Auth.refresh in the session middleware", "status": "in_progress"},
        {"content": "Say so in the changelog", "status": "pending"},
    ],
    "files_modified": ["src/auth.py", "tests/auth/test_margin.py"],
    "commits": [
        {"hash": "9f1c2d3", "subject": "Add TokenMargin"},
        {"hash": "4b5a697", "subject": "Test the edges of the margin"},
    ],
    "git_status": " M src/auth.py\n M tests/auth/test_margin.py\n M docs/flow.png\n?? notes/",
    "branch": "agent/api/shop-14",
    "head": "9f1c2d3e4b5a69788796a5b4c3d2e1f001122334",
    "subagents": [],
    "recent_activity": ["Edit src/auth.py", "Bash pytest -q tests/auth"],
    "usage": {},
}
