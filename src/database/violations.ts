/** The error of PostgreSQL for a refused row; the codes are in its manual, appendix A. */
export interface Refusal {
  code?: string;
  table?: string;
  constraint?: string;
}

/** Whether the row refers to a missing row, which was probably deleted between our read and the write. */
export const isDangling = ({ code }: Refusal): boolean => code === '23503';

/** Whether there is a row with the same key. */
export const isTaken = ({ code }: Refusal): boolean => code === '23505';
