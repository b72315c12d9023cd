{{- define "ibidem.name" -}}
{{- printf "%s-%s" .Release.Name .part | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{- define "ibidem.selector" -}}
app.kubernetes.io/name: ibidem
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "ibidem.labels" -}}
{{ include "ibidem.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ibidem.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - {name: data, emptyDir: {}}
  - {name: tmp, emptyDir: {}}
  {{- with .Values.secret.caSecret }}
  - name: ca
    secret: {secretName: {{ . }}}
  {{- end }}
{{- end }}

{{- define "ibidem.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
env:
  - name: IBIDEM_ENGINE
    valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: {{ .Values.secret.engineKey }}}}
  - name: IBIDEM_BROKER
    valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: {{ .Values.secret.brokerKey }}}}
  - {name: IBIDEM_INDEX, value: {{ .Values.index | quote }}}
  - {name: IBIDEM_TABLES, value: /data/tables}
  - {name: IBIDEM_CONCURRENCY, value: {{ .Values.worker.concurrency | quote }}}
  {{- range $name, $value := .Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  {{- if .Values.secret.caSecret }}
  - {name: ca, mountPath: /etc/ibidem/ca, readOnly: true}
  {{- end }}
{{- end }}
