/** What the starter of this process handed over. */
export const childOptions = <Options>(): Options => JSON.parse(process.argv[2] ?? 'null') as Options;

/** Says that this process is ready, and from then on answers tasks. It ends with the process that started it. */
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
