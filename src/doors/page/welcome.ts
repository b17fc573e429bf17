/** A line for a shell that makes the first account. */
export const signUpLine = (url: string): string =>
  `curl ${url}/api/v1/auths/signup -H 'Content-Type: application/json' ` +
  `-d '{"name": "Ada", "email": "ada@example.com", "password": "a long pass phrase"}'`;
