import type { KeyboardEvent, RefObject } from 'react';
import { isTouch } from '../base/device.ts';
import { type Format, toggleFormat } from './field.ts';
import type { ComposerProperties } from './types.ts';
import type { Compose } from './useCompose.ts';

const FORMATS: Record<string, Format> = { b: 'bold', i: 'italic', e: 'code' };

/**
 * Enter sends, Shift and Enter begin a line, Ctrl and Enter send on each keyboard. The keyboard of a phone has no Shift with
 * Enter, so Enter begins a line there.
 */
export function useComposerKeys(
  field: RefObject<HTMLTextAreaElement | null>,
  compose: Compose,
  { quote, onQuoteEnd, onEditLast }: ComposerProperties,
): (event: KeyboardEvent) => void {
  /** True when the key was for the list of completions. */
  const complete = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const { completions, active } = compose;
    const chosen = completions[active];
    if (!chosen) return false;
    if (key === 'ArrowDown') compose.move(1);
    else if (key === 'ArrowUp') compose.move(-1);
    else if (key === 'Escape') compose.closeList();
    else if ((key === 'Enter' && !shiftKey) || key === 'Tab') compose.pick(chosen);
    else return false;
    return true;
  };
  const act = (event: KeyboardEvent): boolean => {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    const isCommand = (ctrlKey || metaKey) && !altKey;
    const format = isCommand && !shiftKey ? FORMATS[key.toLowerCase()] : undefined;
    if (format && field.current) toggleFormat(field.current, format);
    else if (key === 'Enter' && (isCommand || !(shiftKey || altKey || isTouch()))) compose.send();
    else if (key === 'Escape' && quote) onQuoteEnd();
    else if (key === 'ArrowUp' && compose.text === '' && onEditLast) onEditLast();
    else return false;
    return true;
  };
  return (event) => {
    // The keys choose characters of a composed script.
    if (event.nativeEvent.isComposing) return;
    if (!complete(event) && !act(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
