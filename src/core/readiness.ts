/** The state of a part of the server, as `GET /ready` shows it. */
export interface PartState {
  /** `degraded`: some calls are slow, late or refused. `down`: the process cannot do its work. */
  state: 'ok' | 'degraded' | 'down';
  /** Public text. Reasons are only logged, because they name folders and addresses. */
  detail: string;
}
