import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Logger } from 'pino';

/** Writes one line when the collector stops taking what is sent, and one when it takes it again. */
export function outageLog(log: Logger): (result: ExportResult) => void {
  let isAway = false;
  return ({ code, error }) => {
    const hasFailed = code !== ExportResultCode.SUCCESS;
    if (hasFailed === isAway) return;
    isAway = hasFailed;
    if (isAway)
      log.warn({ err: error }, 'The OpenTelemetry collector takes nothing: traces and metrics are lost.');
    else log.info('The OpenTelemetry collector takes traces and metrics again.');
  };
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** The exporter, whose results are noted. */
export function watched<Items, E extends Exporter<Items>>(
  exporter: E & Exporter<Items>,
  note: (result: ExportResult) => void,
): E {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      note(result);
      done(result);
    });
  return exporter;
}
