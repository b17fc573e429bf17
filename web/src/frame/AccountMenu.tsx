import { lazy } from 'react';
import { OpenOnClick } from '../ui/OpenOnClick.tsx';
import { AccountButton } from './AccountButton.tsx';

const AccountActions = lazy(() => import('./AccountActions.tsx'));

export const AccountMenu = () => (
  <OpenOnClick button={(open) => <AccountButton onClick={open} aria-haspopup="menu" />}>
    <AccountActions />
  </OpenOnClick>
);
