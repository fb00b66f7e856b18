/**
 * The API description for programs (`/v1/openapi.json`) and people (`/v1/docs`): open routes, generated from the route
 * table.
 */
import { z } from 'zod';
import { serveFixed } from '../http/fixed-document.ts';
import type { Route } from '../http/routes.ts';
import { hostVersion } from '../version.ts';
import { readApiExamples } from './api-examples.ts';
import { docsPage } from './docs-page.ts';
import { openApiDocument } from './openapi.ts';

/** `routes` is called once, on the first request, because the table includes these routes too. */
export function apiDescriptionRoutes(routes: () => readonly Route[]): readonly Route[] {
  const unchanged = { description: 'Not changed since the answer with the ETag in `If-None-Match`.' };
  return [
    {
      method: 'GET',
      path: '/v1/openapi.json',
      scope: null,
      handle: serveFixed(async () => {
        const facts = { version: hostVersion(), routes: routes(), examples: readApiExamples() };
        const text = JSON.stringify(await openApiDocument(facts));
        return { text, contentType: 'application/json; charset=utf-8' };
      }),
      doc: {
        id: 'getOpenApi',
        summary: 'This API as an OpenAPI 3.1 document',
        responses: {
          200: { description: 'The document.', shape: z.looseObject({ openapi: z.string() }) },
          304: unchanged,
        },
      },
    },
    {
      method: 'GET',
      path: '/v1/docs',
      scope: null,
      handle: serveFixed(docsPage),
      doc: {
        id: 'getDocs',
        summary: 'This API as a page to read',
        responses: { 200: { description: 'The page.', contentType: 'text/html' }, 304: unchanged },
      },
    },
  ];
}
