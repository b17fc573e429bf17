// The package has no types of its own; these are the parts that `http.ts` uses.
declare module 'autocannon' {
  interface Request {
    method?: 'GET' | 'POST';
    path?: string;
    headers?: Record<string, string>;
    body?: string;
  }
  interface Options extends Request {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    setupClient?(client: { setRequests(requests: Request[]): void }): void;
  }
  interface Result {
    '2xx': number;
    non2xx: number;
    errors: number;
    timeouts: number;
    /** Seconds. */
    duration: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
