/** The result of a visit: the last answer, and the addresses on the way. */
export interface Visit {
  status: number;
  url: string;
  body: string;
  /** Every visited address, in order. */
  trail: string[];
}

export interface Browser {
  /**
   * Opens an address and follows redirects, with the cookies of each host. Stops before an address that
   * `until` matches.
   */
  visit(url: string, until?: RegExp): Promise<Visit>;
  cookie(url: string, name: string): string | undefined;
  setCookie(url: string, name: string, value: string): void;
}

/** The parts of a browser that a sign-in needs: cookies by host and path, and redirects. */
export function openBrowser(): Browser {
  const jar = new Map<string, { path: string; value: string }>();
  const keyOf = (url: string, name: string) => `${new URL(url).host} ${name}`;

  function keep(url: string, line: string) {
    const [pair = '', ...attributes] = line.split(/; */);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (wanted: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const expires = attribute('expires');
    const isOver =
      attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) <= Date.now());
    if (isOver) jar.delete(keyOf(url, name));
    else jar.set(keyOf(url, name), { path: attribute('path') ?? '/', value });
  }
  function cookiesFor(url: string): string {
    const { host, pathname } = new URL(url);
    return [...jar]
      .filter(([key, { path }]) => key.startsWith(`${host} `) && pathname.startsWith(path))
      .map(([key, { value }]) => `${key.slice(host.length + 1)}=${value}`)
      .join('; ');
  }

  return {
    async visit(start, until) {
      const trail: string[] = [];
      for (let url = start; ; ) {
        trail.push(url);
        if (until?.test(url) && trail.length > 1) return { status: 0, url, body: '', trail };
        const response = await fetch(url, {
          redirect: 'manual',
          headers: { accept: 'text/html,*/*', cookie: cookiesFor(url) },
        });
        for (const line of response.headers.getSetCookie()) keep(url, line);
        const location = response.headers.get('location');
        const body = await response.text();
        if (location === null) return { status: response.status, url, body, trail };
        url = new URL(location, url).href;
      }
    },
    cookie: (url, name) => jar.get(keyOf(url, name))?.value,
    setCookie: (url, name, value) => void jar.set(keyOf(url, name), { path: '/', value }),
  };
}
