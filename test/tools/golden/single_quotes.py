'''
title: Single quotes
version: 3
'''


class Tools:
    def f(self):
        'One line in single quotes.'
        return 1
