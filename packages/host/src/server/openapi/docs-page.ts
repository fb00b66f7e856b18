/**
 * The page at `/v1/docs`: a single HTML file with inline style and script, and a CSP that allows no other style or
 * script.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FixedDocument } from '../http/fixed-document.ts';

/** The assets folder is next to both `src` and `dist`. */
const asset = (name: string): string => readFileSync(new URL(`../../../assets/docs/${name}`, import.meta.url), 'utf8');

export function docsPage(): FixedDocument {
  const [style, script] = [asset('docs.css'), asset('docs.js')];
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
    "connect-src 'self'",
    // The page has no icon; this entry stops browsers from requesting one.
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
      'referrer-policy': 'no-referrer',
    },
  };
}
