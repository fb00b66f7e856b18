/** A form made from a JSON Schema. */
import { type FormSchema, initialOf, SchemaField } from '@cairn/client/react';
import { type FormEvent, useState } from 'react';
import type { Json } from './choices.ts';

interface SchemaFormProps {
  readonly schema: FormSchema;
  readonly isBusy: boolean;
  readonly onAnswer: (value: Json) => void;
}

export function SchemaForm({ schema, isBusy, onAnswer }: SchemaFormProps) {
  const [value, setValue] = useState(() => initialOf(schema));

  function submit(event: FormEvent) {
    event.preventDefault();
    onAnswer(value ?? null);
  }

  return (
    <form className="fields" onSubmit={submit}>
      <SchemaField schema={schema} name="" isRequired depth={0} value={value} onChange={setValue} />
      <button type="submit" className="main" disabled={isBusy}>
        Send answer
      </button>
    </form>
  );
}
