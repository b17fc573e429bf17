import { Button, Center, Skeleton, Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pages } from '../../api/pages.ts';
import { ErrorNote } from '../ErrorNote.tsx';
import classes from './DataTable.module.css';

export interface Sort {
  by: string;
  direction: 'asc' | 'desc';
}

export interface Column<Row> {
  key: string;
  /** The head; read out only where `hidesLabel` is set. */
  label: string;
  hidesLabel?: boolean;
  render(row: Row): ReactNode;
  width?: number | string;
  /** The name of this order at the server, and the direction of the first click. */
  sort?: Sort;
  /** True for what a narrow screen leaves out: the row's own view has it. */
  isWide?: boolean;
}

interface Properties<Row>
  extends Partial<Pick<Pages<Row>, 'hasMore' | 'isLoadingMore' | 'loadMore' | 'reload'>> {
  /** The name for screen readers. */
  label: string;
  columns: Column<Row>[];
  /** Undefined while the rows load. */
  rows: Row[] | undefined;
  keyOf(row: Row): string;
  error?: unknown;
  sort?: Sort;
  onSort?(next: Sort): void;
  /** Shown in place of the table when there is no row. */
  empty: ReactNode;
  /** Details below a row; null for a row that is closed. */
  below?(row: Row): ReactNode;
}

const LOADING_ROWS = 8;

/** A table of the server's rows. Pages after the first come by a button, so nothing moves by itself. */
export function DataTable<Row>({ columns: all, rows, keyOf, error, empty, below, ...rest }: Properties<Row>) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const columns = isNarrow ? all.filter(({ isWide }) => !isWide) : all;
  if (error && !rows) return <ErrorNote error={error} onRetry={rest.reload} />;
  if (rows?.length === 0) return empty;
  return (
    <>
      <Table
        stickyHeader
        layout="fixed"
        highlightOnHover
        highlightOnHoverColor="var(--surface-hover)"
        verticalSpacing={6}
        aria-label={rest.label}
        aria-busy={!rows || undefined}
      >
        <Head columns={columns} sort={rest.sort} onSort={rest.onSort} />
        <Table.Tbody>
          {rows?.map((row) => {
            const details = below?.(row);
            return (
              <Fragment key={keyOf(row)}>
                <Table.Tr>
                  {columns.map(({ key, render }) => (
                    <Table.Td key={key} className={classes.cell}>
                      {render(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
                {details && (
                  <Table.Tr>
                    <Table.Td colSpan={columns.length}>{details}</Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            );
          }) ?? <Loading columns={columns} />}
        </Table.Tbody>
      </Table>
      <More {...rest} />
    </>
  );
}

function Head<Row>({ columns, sort, onSort }: Pick<Properties<Row>, 'columns' | 'sort' | 'onSort'>) {
  return (
    <Table.Thead className={classes.head}>
      <Table.Tr>
        {columns.map(({ key, label, hidesLabel, width, sort: own }) => {
          const direction = own && sort?.by === own.by ? sort.direction : null;
          return (
            <Table.Th
              key={key}
              w={width}
              aria-sort={direction ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
            >
              {own && onSort ? (
                <SortButton
                  label={label}
                  direction={direction}
                  onClick={() => onSort(nextOf(own, direction))}
                />
              ) : hidesLabel ? (
                <VisuallyHidden>{label}</VisuallyHidden>
              ) : (
                label
              )}
            </Table.Th>
          );
        })}
      </Table.Tr>
    </Table.Thead>
  );
}

const nextOf = (own: Sort, direction: Sort['direction'] | null): Sort =>
  direction ? { by: own.by, direction: direction === 'asc' ? 'desc' : 'asc' } : own;

interface SortProperties {
  label: string;
  direction: Sort['direction'] | null;
  onClick(): void;
}

function SortButton({ label, direction, onClick }: SortProperties) {
  const Arrow = direction === 'desc' ? ArrowDown : ArrowUp;
  return (
    <UnstyledButton className={classes.sort} onClick={onClick}>
      {label}
      <Arrow size={14} aria-hidden visibility={direction ? 'visible' : 'hidden'} />
    </UnstyledButton>
  );
}

function Loading<Row>({ columns }: Pick<Properties<Row>, 'columns'>) {
  return Array.from({ length: LOADING_ROWS }, (_, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike and never move
    <Table.Tr key={at}>
      {columns.map(({ key }) => (
        <Table.Td key={key}>
          <Skeleton height={20} my={4} />
        </Table.Td>
      ))}
    </Table.Tr>
  ));
}

function More<Row>({ error, hasMore, isLoadingMore, loadMore }: Partial<Properties<Row>>) {
  const { t } = useTranslation();
  if (error) return <ErrorNote error={error} onRetry={loadMore} />;
  if (!hasMore) return null;
  return (
    <Center className={classes.more}>
      <Button size="xs" variant="default" loading={isLoadingMore} onClick={loadMore}>
        {t('action.more')}
      </Button>
    </Center>
  );
}
