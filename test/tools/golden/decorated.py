import functools


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


class Tools:
    @logged
    def f(self, city: str, days: int = 1):
        """
        Decorated, and described as what is inside.
        :param city: Where
        """
