/** What a provider says of a person. */
export interface Claims {
  /** Who says so; subjects are one issuer's own. */
  issuer: string;
  subject: string;
  /** The session's name at the provider, where it has one. */
  sid: string | null;
  /** What the provider's own addresses want to be asked with: a picture may be one of them. */
  token: string;
  origin: string;
  all: Readonly<Record<string, unknown>>;
}

/** What binds an answer of a provider to the browser that asked. */
export interface Proof {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Logout {
  issuer: string;
  subject: string | null;
  sid: string | null;
}

export interface Provider {
  readonly id: string;
  /** What a button says. */
  readonly name: string;
  /** Where a browser signs in. @throws upstream_failed, upstream_timeout */
  authorize(redirectUri: string, proof: Proof): Promise<URL>;
  /**
   * Trades the code that the browser came back with for who the person is.
   *
   * @param callback the redirect address with what the provider added to it
   * @throws oauth_failed, upstream_failed, upstream_timeout
   */
  identify(callback: URL, proof: Proof): Promise<Claims>;
  /**
   * Who an access token stands for that a program got as this client.
   *
   * @throws oauth_failed for one that is not valid, or was issued to another client; upstream_failed, upstream_timeout
   */
  exchange(token: string): Promise<Claims>;
  /**
   * Where a browser ends its session there; null when there is no such place, or the issuer is another.
   *
   * @param backTo where it goes then; null for nowhere
   */
  endSession?(issuer: string, backTo: string | null): Promise<URL | null>;
  /** The logout that a token of this provider's asks for; null when the token is not this provider's. @throws oauth_failed */
  readLogout?(token: string): Promise<Logout | null>;
}
