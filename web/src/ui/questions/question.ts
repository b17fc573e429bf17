/** A question of a running tool, in the forms that published tools use. */
export interface Question {
  kind: 'confirmation' | 'input' | 'unknown';
  title: string;
  message: string;
  placeholder: string;
  /** What the field holds at first. */
  value: string;
  isSecret: boolean;
}

const textIn = (data: object, name: string): string => {
  const value = (data as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
};

/** @param event what the tool gave to `__event_call__` */
export function questionOf(event: unknown): Question {
  const { type, data } = (event ?? {}) as { type?: unknown; data?: unknown };
  const said = typeof data === 'object' && data !== null ? data : {};
  return {
    kind: type === 'confirmation' || type === 'input' ? type : 'unknown',
    title: textIn(said, 'title'),
    message: textIn(said, 'message'),
    placeholder: textIn(said, 'placeholder'),
    value: textIn(said, 'value'),
    isSecret: textIn(said, 'type') === 'password',
  };
}
