import { NativeSelect } from '@mantine/core';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NavLinkTo } from './links.tsx';
import classes from './Sections.module.css';

export interface Section {
  /** The path of the section's page. */
  to: string;
  label: string;
  icon?: ReactNode;
}

interface Properties {
  label: string;
  sections: Section[];
}

/** A group of pages: a list of its sections beside them, or a field to choose one on a narrow screen. */
export function Sections({ label, sections }: Properties) {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const current = sections.find(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  return (
    <div className={classes.frame}>
      <nav className={classes.list} aria-label={label}>
        {sections.map(({ to, label: text, icon }) => (
          <NavLinkTo
            key={to}
            to={to}
            label={text}
            leftSection={icon}
            active={to === current?.to}
            aria-current={to === current?.to ? 'page' : undefined}
          />
        ))}
      </nav>
      <NativeSelect
        className={classes.choice}
        aria-label={label}
        value={current?.to}
        onChange={({ currentTarget: { value } }) => void navigate({ to: value })}
        data={sections.map(({ to, label: text }) => ({ value: to, label: text }))}
      />
      <div className={classes.content}>
        <Outlet />
      </div>
    </div>
  );
}
