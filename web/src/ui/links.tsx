import {
  ActionIcon,
  type ActionIconProps,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  NavLink,
  type NavLinkProps,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

/** Mantine's components as links of the router: `<ButtonTo to="/tools">`. */

type Own = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'style' | 'color'>;

export const AnchorTo = createLink((properties: Omit<AnchorProps, 'href'> & Own) => (
  <Anchor {...properties} />
));

export const ButtonTo = createLink((properties: ButtonProps & Own) => (
  <Button component="a" {...properties} />
));

export const IconTo = createLink((properties: ActionIconProps & Own) => (
  <ActionIcon component="a" {...properties} />
));

export const NavLinkTo = createLink((properties: NavLinkProps & Own) => <NavLink {...properties} />);
