/** Writes the code of pages and guides to files, so that the type check of the sources covers it too. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** `tsconfig.check.json` includes it. */
const FOLDER = 'dist/page-code';

/** The blocks of a page in one language, which may name a file, joined in one file. */
const written = [
  { file: 'client.ts', page: 'reference/client.md', language: 'ts' },
  { file: 'contexts.ts', page: 'reference/client-contexts.md', language: 'ts' },
  { file: 'hooks.tsx', page: 'reference/client-contexts.md', language: 'tsx' },
  { file: 'chat.tsx', page: 'guides/chat-front-end.md', language: 'tsx chat.tsx' },
  { file: 'desk.ts', page: 'guides/first-agent.md', language: 'ts desk.ts' },
] as const;

/** The code blocks of a page in one language, joined. */
export function pageCode(page: string, language: string, between = '\n'): string {
  const fence = language.replaceAll('.', '\\.');
  return [...page.matchAll(new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\`\`\``, 'g'))]
    .map(([, text = '']) => text)
    .join(between);
}

export function writePageCode(root: string): void {
  const folder = join(root, FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, page, language } of written) {
    const code = pageCode(readFileSync(join(root, 'docs', page), 'utf8'), language);
    if (code === '') throw new Error(`docs/${page} has no code in ${language}.`);
    writeFileSync(join(folder, file), code);
  }
}

if (import.meta.main) writePageCode(dirname(import.meta.dirname));
