export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

export function graphOf(edges: (readonly [string, string])[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  return graph;
}

/** The strongly connected components of more than one node. */
export function circlesIn(graph: Graph): string[][] {
  const reach = (from: string) => {
    const seen = new Set<string>();
    const open = [from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const next of graph.get(at) ?? []) {
        if (!seen.has(next)) open.push(next);
        seen.add(next);
      }
    }
    return seen;
  };
  const reached = new Map([...graph.keys()].map((node) => [node, reach(node)]));
  const inCircle = [...graph.keys()].filter((node) => reached.get(node)?.has(node));
  const circles = inCircle.map((node) =>
    inCircle.filter((other) => reached.get(node)?.has(other) && reached.get(other)?.has(node)).sort(),
  );
  return [...new Map(circles.map((circle) => [circle.join(), circle])).values()];
}
