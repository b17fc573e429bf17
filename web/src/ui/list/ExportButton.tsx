import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { saveJson } from '../../base/files.ts';

interface Properties {
  label: string;
  fileName: string;
  load(): Promise<unknown>;
}

/** Saves what the server exports as a file of JSON. */
export function ExportButton({ label, fileName, load }: Properties) {
  const save = useMutation({ mutationFn: load, onSuccess: (content) => saveJson(fileName, content) });
  return (
    <Button
      variant="default"
      size="xs"
      visibleFrom="sm"
      loading={save.isPending}
      onClick={() => save.mutate()}
      leftSection={<Download size={14} aria-hidden />}
    >
      {label}
    </Button>
  );
}
