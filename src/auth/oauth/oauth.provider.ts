/** Claims of a provider about a person. */
export interface Claims {
  /** The issuer. A subject is unique only within its issuer. */
  issuer: string;
  subject: string;
  /** The session id at the provider; null if it gives none. */
  sid: string | null;
  /** The access token, required by the provider's own addresses, such as a picture's. */
  token: string;
  origin: string;
  all: Readonly<Record<string, unknown>>;
}

/** Binds a provider's answer to the browser that started the sign-in. */
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
  /** The label of the sign-in button. */
  readonly name: string;
  /** The address where a browser signs in. @throws upstream_failed, upstream_timeout */
  authorize(redirectUri: string, proof: Proof): Promise<URL>;
  /**
   * Exchanges the code of the callback for the person's claims.
   *
   * @param callback the redirect address with the parameters that the provider added
   * @throws oauth_failed, upstream_failed, upstream_timeout
   */
  identify(callback: URL, proof: Proof): Promise<Claims>;
  /**
   * The claims of the person to whom an access token of this client belongs.
   *
   * @throws oauth_failed if the token is not valid, or was issued to another client; upstream_failed,
   *   upstream_timeout
   */
  exchange(token: string): Promise<Claims>;
  /**
   * Where a browser ends its session at the provider. Null if there is no such address, or the issuer
   * differs.
   *
   * @param backTo where the provider sends the browser afterwards; null for nowhere
   */
  endSession?(issuer: string, backTo: string | null): Promise<URL | null>;
  /** Reads a logout token. Null if another provider issued the token. @throws oauth_failed */
  readLogout?(token: string): Promise<Logout | null>;
}
