import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Properties {
  /** An infinite query. */
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): Promise<unknown> };
}

/** Reads the next page of a list; nothing at its end. */
export function MoreButton({ list }: Properties) {
  const { t } = useTranslation();
  if (!list.hasNextPage) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      {t('action.more')}
    </Button>
  );
}
