/** Types the commands of `docs/guides/go-back.md`, in this process, and compares what they print. */
import { expect, test } from 'vitest';
import { servedCli } from '../../packages/host/src/cli/served-cli.kit.ts';
import { guideBlocks, pattern } from './page-reader.ts';

/** Words of a command line, with variables filled in. Quoted words may contain spaces. */
const wordsOf = (line: string, names: ReadonlyMap<string, string>): readonly string[] =>
  [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) =>
    word.replaceAll(/\$(\w+)/g, (whole, name: string) => names.get(name) ?? whole).replaceAll("'", ''),
  );

test('the guide works as it is written', async () => {
  const { cairn } = await servedCli();
  const names = new Map<string, string>();
  let said = '';
  let compared = 0;
  for (const { language, text } of guideBlocks('go-back.md')) {
    if (language === 'text') {
      expect(said).toMatch(pattern(text));
      compared += 1;
      continue;
    }
    for (const line of text.trim().split('\n')) {
      if (line === 'npx cairn dev') continue;
      const [, variable, inner = line] = /^(\w+)=\$\((.*)\)$/.exec(line) ?? [];
      const [npx, program, ...args] = wordsOf(inner, names);
      expect([npx, program]).toEqual(['npx', 'cairn']);
      const { out, err } = await cairn(args);
      said = [err, out]
        .filter((part) => part !== '')
        .map((part) => `${part}\n`)
        .join('');
      if (variable !== undefined) names.set(variable, out);
    }
  }
  expect(compared).toBe(6);
});
