/** How to make the first account, as a line for a shell. */
export const signUpLine = (url: string): string =>
  `curl ${url}/api/v1/auths/signup -H 'Content-Type: application/json' ` +
  `-d '{"name": "Ada", "email": "ada@example.com", "password": "a long pass phrase"}'`;
