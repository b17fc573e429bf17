/** Saves a text as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the bytes after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Saves a value as a file of JSON. */
export const saveJson = (name: string, value: unknown): void =>
  saveFile(name, `${JSON.stringify(value, null, 2)}\n`, 'application/json');

/** The value in a file of JSON; undefined for another file. */
export async function readJson(file: File): Promise<unknown> {
  try {
    return JSON.parse(await file.text());
  } catch {
    return undefined;
  }
}
