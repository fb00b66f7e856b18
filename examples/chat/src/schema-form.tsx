/** A form made from a JSON Schema. */
import { type FormEvent, useState } from 'react';
import { initialOf, type Json, type Schema } from './schema.ts';
import { Field } from './schema-field.tsx';

interface SchemaFormProps {
  readonly schema: Schema;
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
      <Field schema={schema} name="" isRequired depth={0} value={value} onChange={setValue} />
      <button type="submit" className="main" disabled={isBusy}>
        Send answer
      </button>
    </form>
  );
}
