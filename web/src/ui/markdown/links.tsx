import { useRouter } from '@tanstack/react-router';
import { Image } from 'lucide-react';
import type { MouseEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Markdown.module.css';

/** Addresses that the server answers itself; all others of this host are views of the page. */
const SERVED = /^\/(?:api|oauth|v1|docs|openapi|ready|version|metrics)(?:[/?.]|$)/;

/** The path of a view of this page; null for all other addresses. */
function viewOf(href: string): string | null {
  const url = URL.parse(href, window.location.href);
  if (url?.origin !== window.location.origin || SERVED.test(url.pathname)) return null;
  return url.pathname + url.search + url.hash;
}

interface LinkProperties {
  href: string;
  children: ReactNode;
}

/** The parser has checked the address. Views of the page open in place, other pages in a new tab. */
export function SafeLink({ href, children }: LinkProperties) {
  const router = useRouter();
  const view = viewOf(href);
  if (view === null) {
    return (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  }
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(view);
  };
  return (
    <a href={view} onClick={open}>
      {children}
    </a>
  );
}

const OWN_PICTURE = /^\/api\/(?:v1\/)?files\/[\w-]+\/content$/;

/** Pictures of other hosts are links: the page asks no other host. */
export function Picture({ source, text }: { source: string; text: string }) {
  const { t } = useTranslation();
  if (OWN_PICTURE.test(source))
    return <img className={classes.picture} src={source} alt={text} loading="lazy" />;
  return (
    <SafeLink href={source}>
      <Image size={14} aria-hidden className={classes.pictureMark} /> {text || t('markdown.picture')}
    </SafeLink>
  );
}
