/** One operation of a history. Times are microseconds of one clock. */
export interface Operation {
  client: number;
  call: number;
  /** Null when no answer came: the effect may come at any time, or never. */
  return: number | null;
  input: { do: string; value: string };
  output: { status: string; values: string[] } | null;
}

export type Kind = 'sign-up' | 'token' | 'grant' | 'post';

/** The operations of several clients on one thing: an account, a credential, a right, a message. */
export interface History {
  id: number;
  kind: Kind;
  operations: Operation[];
}

/** What a call showed: `null` for no answer, `skip` when it certainly had no effect and says nothing. */
export type Outcome = Operation['output'] | 'skip';

const nowMicros = () => Math.round(performance.now() * 1000);

/** Records operations while they run. */
export class Recorder {
  readonly operations: Operation[] = [];

  async record(client: number, what: string, value: string, work: () => Promise<Outcome>): Promise<void> {
    const call = nowMicros();
    const output = await work();
    if (output === 'skip') return;
    const input = { do: what, value };
    this.operations.push({ client, call, return: output ? nowMicros() : null, input, output });
  }
}

const done = (status: string, ...values: string[]) => ({ status, values });
/** One line of a sample: client, begin, end, operation, value, answer. */
type Line = [number, number, number | null, string, string, ReturnType<typeof done> | null];

const sample = (id: number, kind: Kind, lines: Line[]): History => ({
  id,
  kind,
  operations: lines.map(([client, call, end, what, value, output]) => ({
    ...{ client, call, return: end, output, input: { do: what, value } },
  })),
});

/** Histories that some order explains: the checker must accept them. */
export const LEGAL: History[] = [
  sample(1, 'sign-up', [
    [0, 0, 9, 'sign up', 'a', done('ok')],
    [1, 1, 8, 'sign up', 'b', done('taken')],
    [2, 10, 12, 'sign in', 'a', done('ok')],
  ]),
  sample(2, 'token', [
    [0, 0, 9, 'end', '', null],
    [1, 10, 12, 'use', '', done('ok')],
    [1, 13, 14, 'use', '', done('ended')],
  ]),
  sample(3, 'grant', [
    [0, 0, 9, 'set', 'yes', done('ok')],
    [1, 1, 2, 'read', '', done('refused')],
    [1, 3, 4, 'read', '', done('ok')],
  ]),
  sample(4, 'post', [
    [0, 0, null, 'post', '', null],
    [1, 5, 6, 'post', '', done('ok', 'm1')],
    [2, 7, 8, 'read', '', done('ok', 'm1')],
  ]),
];

/** Histories with an anomaly: the checker must find each. */
export const ANOMALOUS: History[] = [
  // Two sign-ups of one address succeed.
  sample(11, 'sign-up', [
    [0, 0, 9, 'sign up', 'a', done('ok')],
    [1, 1, 8, 'sign up', 'b', done('ok')],
  ]),
  // A credential works after its end was confirmed.
  sample(12, 'token', [
    [0, 0, 5, 'end', '', done('ok')],
    [1, 6, 7, 'use', '', done('ok')],
  ]),
  // A reader sees a right come, and after that not there.
  sample(13, 'grant', [
    [0, 0, 9, 'set', 'yes', done('ok')],
    [1, 1, 2, 'read', '', done('ok')],
    [1, 3, 4, 'read', '', done('refused')],
  ]),
  // One temp_id gives two messages.
  sample(14, 'post', [
    [0, 0, 3, 'post', '', done('ok', 'm1')],
    [1, 4, 6, 'post', '', done('ok', 'm2')],
  ]),
  // An acknowledged message is lost.
  sample(15, 'post', [
    [0, 0, 3, 'post', '', done('ok', 'm1')],
    [1, 4, 6, 'read', '', done('ok')],
  ]),
];
