// node flame.js SPEEDSCOPE PPROF: what others read of these two files, as JSON: what the schema that speedscope's package
// holds finds wrong with the one, and the samples that pprof-format reads of the other. NODE_PATH names where they are.
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const Ajv = require("ajv");
const { Profile } = require("pprof-format");

const [speedscope, pprof] = process.argv.slice(2);
const schema = path.join(path.dirname(require.resolve("speedscope/package.json")), "dist/release/file-format-schema.json");
const validate = new Ajv({ strict: false }).compile(JSON.parse(fs.readFileSync(schema, "utf8")));
validate(JSON.parse(fs.readFileSync(speedscope, "utf8")));

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(pprof)));
const text = (index) => profile.stringTable.strings[Number(index)];
const functions = new Map(profile.function.map((one) => [one.id, text(one.name)]));
const locations = new Map(profile.location.map((one) => [one.id, functions.get(one.line[0].functionId)]));
console.log(JSON.stringify({
  wrong: validate.errors ?? [],
  types: profile.sampleType.map((one) => [text(one.type), text(one.unit)]),
  shown: text(profile.defaultSampleType),
  samples: profile.sample.map((one) => [one.locationId.map((id) => locations.get(id)).reverse(), one.value.map(Number)]),
}));
