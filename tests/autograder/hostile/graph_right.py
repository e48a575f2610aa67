"""A right program that replays a graph."""
# item: graph
# earns: 4
# ends: value
# needs: nothing


def answer(graph, x, y, new):
    x[...] = new
    graph.replay()
    return 1 * y
