import type { AnyRouter } from '@trpc/server';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import type { Procedure } from './procedures.ts';
export function buildDocument(router: AnyRouter): Record<string, unknown> {
  return generateOpenApiDocument(router as never, {
    title: 'Parley',
    version: '0',
    baseUrl: '/api/v1',
  }) as never as Record<string, unknown>;
}
export type P = Procedure;
export const renderDocument = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;
