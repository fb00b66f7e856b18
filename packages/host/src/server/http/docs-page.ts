/** The page at `/v1/docs`: one file of HTML, style and script of our own, and a policy that lets nothing else in. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FixedDocument } from './fixed-document.ts';

/** They lie beside `src` and `dist` alike. */
const asset = (name: string): string => readFileSync(new URL(`../../../assets/docs/${name}`, import.meta.url), 'utf8');

export function docsPage(): FixedDocument {
  const [style, script] = [asset('docs.css'), asset('docs.js')];
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
    "connect-src 'self'",
    // The page has no icon; saying so keeps browsers from asking the host for one.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const text = asset('docs.html')
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
  return {
    text,
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  };
}
