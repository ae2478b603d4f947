// read.js FILE…: the documents of YAML files as one list of JSON, each with what Kubernetes' schema has against it as `problem`.
const fs = require("fs");
const yaml = require("yaml");
const { Job } = require("kubernetes-models/batch/v1");

const kinds = { Job };
const documents = [];
for (const file of process.argv.slice(2))
  for (const parsed of yaml.parseAllDocuments(fs.readFileSync(file, "utf8"), { strict: true, uniqueKeys: true })) {
    let problem = parsed.errors.concat(parsed.warnings).join("; ");
    const document = parsed.toJS();
    if (!problem)
      try {
        new kinds[document.kind](document).validate();
      } catch (error) {
        problem = String(error);
      }
    documents.push({ file, document, problem });
  }
console.log(JSON.stringify(documents));
