"""A person who answers a session's questions."""


def label(session, y, n, work=False):
    for _ in range(n):
        row = session.ask()
        assert session.ask() == row
        session.tell(row, str(y[row]))
        if work:
            session.work()
    return session
