import { useConfig } from '../api/session.ts';

/** The logo of the installation, or ours. The name stands beside it. */
export function Logo({ size }: { size: number }) {
  const config = useConfig();
  const own = 'logo' in config && typeof config.logo === 'string' ? config.logo : '';
  return <img src={own || '/favicon.svg'} alt="" width={size} height={size} />;
}
