import { Suspense } from 'react';
import { lazyAfterPaint } from '../ui/afterPaint.ts';
import { AccountButton } from './AccountButton.tsx';

const AccountActions = lazyAfterPaint(() => import('./AccountActions.tsx'));

export const AccountMenu = () => (
  <Suspense fallback={<AccountButton />}>
    <AccountActions />
  </Suspense>
);
