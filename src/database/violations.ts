/** What PostgreSQL tells of a row that it refused; see the codes in its manual, appendix A. */
export interface Refusal {
  code?: string;
  table?: string;
  constraint?: string;
}

/** Whether what the row refers to is not there: most often it was deleted between our look at it and the write. */
export const isDangling = ({ code }: Refusal): boolean => code === '23503';

/** Whether there is a row with the same key. */
export const isTaken = ({ code }: Refusal): boolean => code === '23505';
