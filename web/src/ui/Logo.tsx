import { useConfig } from '../api/session.ts';

/** The logo of the installation, or ours. The name stands beside it. */
export function Logo({ size }: { size: number }) {
  const { logo } = useConfig();
  return <img src={logo || '/favicon.svg'} alt="" width={size} height={size} />;
}
