/** Saves tools as a file that `ImportPage` and other servers read. */
export function saveTools(tools: unknown[], name: string): void {
  const blob = new Blob([JSON.stringify(tools, null, 2)], { type: 'application/json' });
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name}.json`;
  link.click();
  // The browser reads the bytes after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
