/** The options from the starter of this process. */
export const childOptions = <Options>(): Options => JSON.parse(process.argv[2] ?? 'null') as Options;

/**
 * Reports that this process is ready, and answers tasks from then on. It ends with the process that started
 * it.
 */
export function ready<Task>(first: unknown, work?: (task: Task) => Promise<unknown>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (task) => {
    work?.(task as Task).then(
      (result) => process.send?.(result),
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.send?.(first);
}
